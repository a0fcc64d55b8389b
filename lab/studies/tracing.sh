#!/bin/bash
# What records cost under global and partitioned EDF, for 5 to 125 tasks on four cores, 300 ms.
#
#   lab/studies/tracing.sh docs/measured
#
# Decides each run with records and without them, counts the instructions of both with valgrind, and holds the difference against the time of
# four cores that execute an instruction each nanosecond. Takes a minute, and leaves tracing.md.
set -euo pipefail

out=${1:?the folder of the page}
cd "$(dirname "$0")/../.."
cargo build --quiet --release -p tactus-policy --example tracing
program=${CARGO_TARGET_DIR:-target}/release/examples/tracing
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
{
    echo "# What tracing costs"
    echo
    echo "Made by \`lab/studies/tracing.sh\`: the same events decided with records and without, four cores, 300 ms; instructions of this computer. The share is"
    echo "the difference beside four cores for 300 ms at an instruction each nanosecond."
    echo
    echo "| EDF | tasks | decisions | records | without | with | for a record | share of the time |"
    echo "|---|--:|--:|--:|--:|--:|--:|--:|"
    for spread in global partitioned; do
        for n in 5 25 50 75 100 125; do
            said=$(valgrind --quiet --tool=callgrind --callgrind-out-file="$scratch/out" "$program" "$spread" "$n")
            awk -v spread="$spread" -v n="$n" -v said="$said" '
                /^c?fn=\(/ {
                    id = name = $0
                    sub(/^c?fn=/, "", id); sub(/\).*/, ")", id)
                    sub(/^c?fn=\([0-9]+\) ?/, "", name)
                    if (name != "") names[id] = name
                }
                /^cfn=/ { callee = id }
                /^calls=/ { counted = 1; next }
                counted { cost[callee] += $2; counted = 0 }
                END {
                    for (id in cost) if (names[id] ~ /::with_records/) with = cost[id]; else if (names[id] ~ /::without_records/) without = cost[id]
                    split(said, count, " ")
                    printf "| %s | %d | %d | %d | %d | %d | %.0f | %.4f %% |\n", spread, n, count[1], count[2], without, with, (with - without) / count[2], (with - without) / 1.2e9 * 100
                }' "$scratch/out"
        done
    done
} >"$out/tracing.md"
cat "$out/tracing.md"
