#!/bin/sh
# The same file and seed give the same trace, byte for byte, on the machine and in the simulator; another seed gives
# another one.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for verb in run simulate; do
    for turn in first second; do
        "$TACTUS" $verb examples/avionics.toml --duration '1 s' --out "$folder/$turn" >"$folder/said" || true
    done
    "$TACTUS" $verb examples/avionics.toml --duration '1 s' --seed 77 --out "$folder/other" >"$folder/said" || true
    cmp "$folder/first/trace.bin" "$folder/second/trace.bin"
    cmp "$folder/first/summary.json" "$folder/second/summary.json"
    if cmp -s "$folder/first/trace.bin" "$folder/other/trace.bin"; then
        echo "$verb: the seed changes nothing"
        exit 1
    fi
done
