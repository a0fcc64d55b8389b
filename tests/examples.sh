#!/bin/sh
# Every system in examples/ is checked, built, booted and judged, and ends as its page says: all hold, but for the one
# that asks for more than there is.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for file in examples/*.toml examples/control-loop/*.toml examples/rt-app/*.json; do
    wanted=0
    case $file in *overload*) wanted=1 ;; esac
    got=0
    "$TACTUS" run "$file" --out "$folder/out" >"$folder/said" 2>&1 || got=$?
    if [ "$got" -ne "$wanted" ]; then
        echo "$file: exit status $got instead of $wanted"
        cat "$folder/said"
        exit 1
    fi
    for left in report.html summary.json trace.bin trace.pftrace run.json run.log costs.toml; do
        [ -s "$folder/out/$left" ] || { echo "$file: the run left no $left"; exit 1; }
    done
done
