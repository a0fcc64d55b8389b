#!/bin/bash
# How long the lock of a core is held under MC² with a lock for each container and core, over numbers of tasks.
#
#   lab/studies/mc2-holds.sh docs/measured
#
# Counts instructions with valgrind around every place of the policy that holds such a lock, one row for each. The policy is compiled without
# optimisation, so that these places can be told apart: figures are several times those of the machine, and only compared with each
# other. Takes a minute, and leaves mc2-holds.md.
set -euo pipefail

out=${1:?the folder of the page}
cd "$(dirname "$0")/../.."
cargo build --quiet --manifest-path lab/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}" -p tactus-mc2-variants --example holds \
    --config 'profile.dev.package.tactus-policy.opt-level=0' --config 'profile.dev.package.tactus-sync.opt-level=0'
program=${CARGO_TARGET_DIR:-target}/debug/examples/holds
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
numbers='20 40 80 120'
for n in $numbers; do
    valgrind --quiet --tool=callgrind --demangle=no --callgrind-out-file="$scratch/$n" "$program" "$n" >&2
    # Of each function: how often it was called, and what the calls took together.
    awk -v n="$n" '
        /^c?fn=\(/ {
            id = name = $0
            sub(/^c?fn=/, "", id); sub(/\).*/, ")", id)
            sub(/^c?fn=\([0-9]+\) ?/, "", name)
            if (name != "") names[id] = name
        }
        /^cfn=/ { callee = id }
        /^calls=/ { split($1, part, "="); calls[callee] += part[2]; counted = 1; next }
        counted { cost[callee] += $2; counted = 0 }
        END {
            for (id in calls) if (names[id] ~ /nest.*Cell.*with/) { print names[id], n, calls[id], cost[id] / calls[id]; all += calls[id]; sum += cost[id] }
            print "all", n, all, sum / all
        }' "$scratch/$n"
done >"$scratch/figures"
{
    echo "# How long MC² holds a core's lock"
    echo
    echo "Made by \`lab/studies/mc2-holds.sh\`: four cores, a lock for each container and core, 200 ms; instructions in the mean, compiled without"
    echo "optimisation, and how often. A row is a place in the policy that holds such a lock; none has a loop over tasks. What is asked:"
    echo "[The MC² studies](../lab/study-mc2.md)."
    echo
    awk -v numbers="$numbers" '
        { mean[$1, $2] = $4; calls[$1, $2] = $3; if (!($1 in total)) order[++rows] = $1; total[$1] += $3 }
        END {
            count = split(numbers, n, " ")
            printf "| held |"; for (k = 1; k <= count; k++) printf " %d tasks |", n[k]
            printf "\n|---|"; for (k = 1; k <= count; k++) printf "--:|"; printf "\n"
            for (done = 0; done < rows; done++) {
                best = ""
                for (r = 1; r <= rows; r++) if (order[r] in total && order[r] != "all" && (best == "" || total[order[r]] > total[best])) best = order[r]
                if (best == "") best = "all"
                printf best == "all" ? "| all |" : "| place %d |", done + 1
                for (k = 1; k <= count; k++) if ((best, n[k]) in mean) printf " %.0f (%d) |", mean[best, n[k]], calls[best, n[k]]; else printf " – |"
                printf "\n"
                delete total[best]
            }
        }' "$scratch/figures"
} >"$out/mc2-holds.md"
cat "$out/mc2-holds.md"
