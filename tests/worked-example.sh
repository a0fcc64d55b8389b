#!/bin/sh
# The worked example of MC² gives the published schedule, in the simulator and on the machine: once with every job taking
# its level-C time, once with the times of level B. In brackets stand the ghosts that let the task run.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/C" <<'END'
[0,1) T1 | [1,3) T3 (T1) | [3,5) T2 | [5,6) T1 | [6,7) T4 (T1) | [7,8) T5 (T1,T4) | [8,9) T5 (T2) | [9,10) T6 (T2)
[10,11) T1 | [11,13) T3 (T1) | [13,15) T2 | [15,16) T1 | [16,18) T5 (T1) | [18,19) T6 (T2) | [19,20) T7 (T2)
END
cat >"$folder/B" <<'END'
[0,2) T1 | [2,3) T3 (T1) | [3,5) T2 | [5,7) T1 | [7,8) T3 (T1) | [8,10) T4 (T2)
[10,12) T1 | [12,13) T3 (T1) | [13,15) T2 | [15,17) T1 | [17,18) T3 (T1) | [18,20) T5 (T2)
END

for level in C B; do
    wanted=$(paste -s -d '|' "$folder/$level" | sed 's/|\[/ | [/g; s/  */ /g')
    for verb in simulate run; do
        # Whether bounds held is not asked here: the system leaves its own work out of the check.
        "$TACTUS" $verb examples/mc2-example.toml --at-level $level --duration '200 ms' --out "$folder/out" >"$folder/said" || true
        got=$("$TACTUS" trace "$folder/out" --unit '10 ms')
        if [ "$got" != "$wanted" ]; then
            printf '%s at level %s:\n  got    %s\n  wanted %s\n' "$verb" "$level" "$got" "$wanted"
            exit 1
        fi
    done
done
