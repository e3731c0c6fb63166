# shellcheck shell=bash
# Sourced by setup.sh, run.sh and test.sh: where things lie, whether CUDA is wanted, how a preset is built.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # setup.sh reads it
wheels=$root/third_party/wheels

# Everything but results goes to stderr, so that stdout holds the path of the clip alone.
say() { printf '%s\n' "$*" >&2; }

die() {
    say "$(basename "$0"): $*"
    exit 1
}

# CUDA code is built where there is an NVIDIA driver; PARALLAX_CUDA=ON|OFF decides otherwise.
cuda_wanted() {
    case ${PARALLAX_CUDA:-AUTO} in
        ON) return 0 ;;
        OFF) return 1 ;;
        AUTO) [[ -e /proc/driver/nvidia/version || $(/sbin/ldconfig -p) == *libcuda.so.1* ]] ;;
        *) die "PARALLAX_CUDA is \"$PARALLAX_CUDA\"; set it to ON or OFF, or leave it out." ;;
    esac
}

# preset: the name of the one that run.sh and test.sh build.
preset() {
    if cuda_wanted; then echo default; else echo cpu; fi
}

# configure PRESET [-D…]: CMake itself notices changed lists, so this runs only for a new folder, new options or presets.
configure() {
    local folder=$root/build/$1 key
    key="$* $(cksum <"$root/CMakePresets.json")"
    if [[ -f $folder/build.ninja && $(cat "$folder/.configured" 2>/dev/null) == "$key" ]]; then
        return
    fi
    say "Configuring build/$1"
    mkdir -p "$folder"
    if ! (cd "$root" && cmake --preset "$@") >"$folder/configure.log" 2>&1; then
        tail -n 30 "$folder/configure.log" >&2
        die "configuring build/$1 failed; the whole output is in $folder/configure.log."
    fi
    printf '%s' "$key" >"$folder/.configured"
}

# configure_main: the preset of run.sh and test.sh, always with the same options, so that neither undoes the other's work.
configure_main() {
    local options=(-DPARALLAX_WARNINGS_AS_ERRORS="$([[ ${CI:-} ]] && echo ON || echo OFF)")
    if cuda_wanted; then
        options+=(-DPARALLAX_CUDA=ON)
    fi
    configure "$(preset)" "${options[@]}"
}

# build PRESET [TARGET…]
build() {
    local folder=$root/build/$1
    shift
    cmake --build "$folder" ${1:+--target "$@"} >&2 || die "building $folder failed; the first error above says why."
}

# locked COMMAND…: two scripts at once would write the same folders; the second one waits.
locked() {
    mkdir -p "$root/build"
    (
        flock --nonblock 9 || { say "Another set-up or build is running here; waiting for it."; flock 9; }
        "$@"
    ) 9>"$root/build/.lock"
}
