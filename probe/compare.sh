#!/bin/sh
# Runs a system with and without the probe: the traces must have the same bytes, and two runs with it the same counts.
# compare.sh [SYSTEM FILE]
set -eu
cd "$(dirname "$0")/.."
system=${1:-examples/partitioned-edf.toml}
out=$(mktemp -d)
cargo build -q --release -p tactus-probe
plug_in=$PWD/target/release/libtactus_probe.so
./tactus run "$system" --out "$out/without" > "$out/log"
for turn in 1 2; do
    TACTUS_PLUGIN="$plug_in,out=$out/counts-$turn" ./tactus run "$system" --out "$out/with-$turn" > "$out/log"
    cmp "$out/without/trace.bin" "$out/with-$turn/trace.bin"
done
cmp "$out/counts-1" "$out/counts-2"
cat "$out/counts-1"
rm -rf "$out"
echo "the same trace with and without the probe, the same counts twice"
