#!/usr/bin/env bash
# Brings what the build needs: Debian packages, and libtorch as wheels unpacked into third_party/wheels.
#   packaging/setup.sh [--tests]      --tests: also what packaging/test.sh needs
#   PARALLAX_CUDA=ON|OFF              whether NVIDIA's wheels come too (default: when there is an NVIDIA driver)
# Running it again is harmless and quick. Stopped half way, it leaves the earlier state.
set -euo pipefail
# shellcheck source=packaging/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The names are those of Debian 12; Ubuntu 24.04 has the same ones (untested there).
build_packages=(
    g++ cmake ninja-build pkg-config ccache mold
    libavcodec-dev libavformat-dev libavutil-dev libswscale-dev libswresample-dev libpng-dev
    nlohmann-json3-dev libcli11-dev libspdlog-dev libpcre2-dev libutf8proc-dev libgtest-dev libgmock-dev
)
test_packages=(ffmpeg clang-16 libclang-rt-16-dev clang-format-14 clang-tidy-14)

# missing_packages NAME…: those that dpkg does not know as installed.
missing_packages() {
    local name
    for name; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || printf '%s\n' "$name"
    done
}

install_packages() {
    local missing as_root=() log=$root/build/packages.log size
    if ! command -v apt-get >/dev/null; then
        say "No apt-get here: what Debian 12 calls $* must be installed by other means."
        return
    fi
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "these packages are missing and there is neither root nor sudo: ${missing[*]}."
        as_root=(sudo)
    fi
    # shellcheck disable=SC1091
    (. /etc/os-release && [[ $ID$VERSION_ID == debian12 ]]) || say "This is not Debian 12: package names are untested here."
    say "Installing ${#missing[@]} Debian packages and what they depend on: ${missing[*]}"
    mkdir -p "$root/build"
    "${as_root[@]}" apt-get update -qq -o APT::Update::Error-Mode=any >"$log" 2>&1 ||
        die "the package lists could not be read; check the network and see $log."
    size=$(LC_ALL=C apt-get install --no-install-recommends --assume-no "${missing[@]}" 2>/dev/null |
        grep -E '^(Need to get|After this operation)' || true)
    say "${size:-See $log for sizes.}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" \
        >>"$log" 2>&1 || die "the packages could not be installed; $log says why (its last line: $(tail -n 1 "$log"))."
}

# megabytes WORD GROUP…: the sum of what the groups' files state ("download" or "unpacked").
megabytes() {
    local word=$1
    shift
    (cd "$root/packaging/wheels" && awk -v word="$word" '/^# megabytes:/ {
        for (i = 3; i < NF; ++i) if ($i == word) sum += $(i + 1) } END { print sum }' "${@/%/.txt}")
}

nvcc_fits() {
    local nvcc candidate
    nvcc=$(command -v nvcc || true)
    for candidate in /usr/local/cuda-13.0/bin/nvcc /usr/local/cuda/bin/nvcc; do
        [[ $nvcc || ! -x $candidate ]] || nvcc=$candidate
    done
    [[ $nvcc && $("$nvcc" --version) == *"release 13.0,"* ]]
}

# unpacked GROUP: whether the group lies in third_party/wheels in the pinned versions.
unpacked() {
    cmp -s "$root/packaging/wheels/$1.txt" "$wheels/.$1.txt"
}

# fetch_wheels GROUP…: a new tree is put together beside the old one and takes its place at the end.
fetch_wheels() {
    local group stamp needed=() kept=() quiet=() partial=$wheels.partial free
    for stamp in "$wheels"/.*.txt; do
        [[ -e $stamp ]] || continue
        group=$(basename "$stamp" .txt)
        kept+=("${group#.}")
    done
    for group; do
        unpacked "$group" || needed+=("$group")
    done
    ((${#needed[@]})) || return 0
    for group in "${kept[@]}"; do
        unpacked "$group" || { kept=() needed=("$@"); break; } # other versions than before: all anew
    done

    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
    rm -rf "$partial"
    mkdir -p "$partial/tree" "$partial/tmp"
    free=$(df --output=avail --block-size=1MB "$partial" | tail -n 1)
    local space=$(($(megabytes download "${needed[@]}") + $(megabytes unpacked "${needed[@]}")))
    ((free > space)) || die "libtorch needs $space MB free in $root/third_party for a moment, there are $((free))."
    [[ -t 2 ]] || quiet=(-qq) # a person sees how far the download is
    if ((${#kept[@]})); then
        cp -al "$wheels/." "$partial/tree/"
    fi
    for group in "${needed[@]}"; do
        say "Fetching libtorch's $group wheels: $(megabytes download "$group") MB, $(megabytes unpacked "$group") MB unpacked"
        TMPDIR=$partial/tmp python3 -m pip install "${quiet[@]}" --disable-pip-version-check --root-user-action=ignore \
            --retries 2 --no-cache-dir --no-compile --no-deps --require-hashes --only-binary=:all: --implementation cp \
            --python-version 3.11 --target "$partial/$group" -r "$root/packaging/wheels/$group.txt" >&2 || {
            rm -rf "$partial"
            die "libtorch's $group wheels could not be fetched; check the network and run this again."
        }
        cp -al "$partial/$group/." "$partial/tree/"
        cp "$root/packaging/wheels/$group.txt" "$partial/tree/.$group.txt"
        rm -rf "${partial:?}/$group"
    done
    rm -rf "$wheels.old"
    [[ ! -e $wheels ]] || mv "$wheels" "$wheels.old"
    mv "$partial/tree" "$wheels"
    rm -rf "$partial" "$wheels.old"
}

main() {
    local packages=("${build_packages[@]}") groups=(cpu)
    case ${1:-} in
        "") ;;
        --tests) packages+=("${test_packages[@]}") ;;
        *) die "unknown argument \"$1\"; only --tests is known." ;;
    esac
    [[ $(uname -sm) == "Linux x86_64" ]] || die "libtorch's wheels are for Linux on x86-64; this is $(uname -sm)."
    install_packages "${packages[@]}"
    if [[ -L $wheels ]]; then
        say "Using the wheels that third_party/wheels points to."
        return
    fi
    if cuda_wanted; then
        groups+=(cuda)
        nvcc_fits || groups+=(nvcc)
    fi
    fetch_wheels "${groups[@]}"
}

main "$@"
