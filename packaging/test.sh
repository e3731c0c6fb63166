#!/usr/bin/env bash
# Every test: style, the std-only part under sanitizers and clang-tidy, the fuzz targets for 20 s each, and at the end
# the whole suite, whose runner has the last line.
set -euo pipefail
# shellcheck source=packaging/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if [[ ${CI:-} ]]; then
    # A clone in a new folder finds what earlier ones compiled.
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
fi

step() {
    say "== $1 (after $SECONDS s)"
}

check_style() {
    find "$root"/{app,engine,tests} -name '*.h' -print0 -o -name '*.cpp' -print0 -o -name '*.cu' -print0 |
        xargs -0 clang-format-14 --dry-run -Werror >&2 || die "clang-format-14 -i formats the files named above."
}

run_suite() {
    ctest --test-dir "$root/build/$1" --output-on-failure --parallel "$(nproc)"
}

sanitized() {
    configure "$1"
    build "$1"
    run_suite "$1" >&2 || die "tests failed under the sanitizer of build/$1; they are named above."
}

prepare() {
    step "set-up"
    bash "$root/packaging/setup.sh" --tests
    step "style"
    check_style
    step "the std-only part under ASan and UBSan, the library's units read by clang-tidy"
    sanitized asan
    step "the std-only part under TSan"
    sanitized tsan
    step "the readers under libFuzzer"
    configure fuzz
    build fuzz fuzzers
    bash "$root/tests/fuzz/run.sh" 20 >&2
    step "the whole"
    configure_main
    build "$(preset)"
}

main() {
    locked prepare
    step "every test"
    run_suite "$(preset)"
}

main
