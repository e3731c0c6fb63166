#!/usr/bin/env bash
# From a clone to a clip: sets up, builds, and generates a clip with the demo world. The last line is the clip's path.
#   packaging/run.sh                                       a clip from a prompt of ours
#   packaging/run.sh --prompt "A blue cube spins on sand." …     any option of `parallax generate`
set -euo pipefail
# shellcheck source=packaging/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

prepare() {
    bash "$root/packaging/setup.sh"
    configure_main
    build "$(preset)" parallax parallax-engine
}

# given NAME… -- ARGUMENT…: whether one of the options is among the arguments, as --name or --name=value.
given() {
    local names=" " argument
    while [[ $1 != -- ]]; do
        names+="$1 "
        shift
    done
    shift
    for argument; do
        [[ $names != *" ${argument%%=*} "* ]] || return 0
    done
    return 1
}

main() {
    locked prepare
    local defaults=()
    if ! given --record --help -h -- "$@"; then
        given --model -- "$@" || defaults+=(--model demo)
        given --prompt --prompt-file -- "$@" || defaults+=(--prompt "A red ball bouncing on green grass.")
    fi
    exec "$root/build/$(preset)/bin/parallax" generate "${defaults[@]}" "$@"
}

main "$@"
