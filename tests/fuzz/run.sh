#!/bin/bash
# tests/fuzz/run.sh SECONDS [BUILD]: every fuzz target of the build folder (build/fuzz) for SECONDS on its kept corpus,
# two at a time. What a run learns stays in BUILD/fuzz/corpus; a finding is left in BUILD/fuzz/findings and is an error.
set -uo pipefail
seconds=${1:?"usage: $0 SECONDS [BUILD]"}
here=$(cd "$(dirname "$0")" && pwd)
build=${2:-$here/../../build/fuzz}
findings=$build/fuzz/findings
rm -rf "$findings"
mkdir -p "$findings"

one() {
    local program=$1 name
    name=$(basename "$program")
    name=${name#fuzz_}
    mkdir -p "$build/fuzz/corpus/$name"
    if ! "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -dict="$here/json.dict" \
        -print_final_stats=1 -artifact_prefix="$findings/$name-" \
        "$build/fuzz/corpus/$name" "$here/corpus/$name" >"$build/fuzz/$name.log" 2>&1; then
        tail -n 40 "$build/fuzz/$name.log"
        echo "$name: FAILED, see $build/fuzz/$name.log and $findings"
        return 1
    fi
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz/$name.log") executions, no finding"
}

programs=("$build"/bin/fuzz_*)
if [ ! -x "${programs[0]}" ]; then
    echo "There are no fuzz programs in $build/bin: build the preset \"fuzz\" first." >&2
    exit 1
fi
failed=0
for ((i = 0; i < ${#programs[@]}; i += 2)); do
    pids=()
    for program in "${programs[@]:i:2}"; do
        one "$program" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || failed=1
    done
done
exit $failed
