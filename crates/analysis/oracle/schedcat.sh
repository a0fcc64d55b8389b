#!/bin/sh
# This crate beside SchedCAT: the same answers on random sets, and the time that both take.
#
#     crates/analysis/oracle/schedcat.sh SCHEDCAT FOLDER answers [sets of each of 20 kinds]
#     crates/analysis/oracle/schedcat.sh SCHEDCAT FOLDER one-core [sets of each of 6 kinds]
#     crates/analysis/oracle/schedcat.sh SCHEDCAT FOLDER packings [sets of each of 3 kinds]
#     crates/analysis/oracle/schedcat.sh SCHEDCAT FOLDER speed [sets of each of 2 kinds]
#
# SCHEDCAT is a copy of github.com/brandenburg/schedcat, FOLDER one to work in. Needs g++, GMP with its headers (libgmp-dev) and
# Python 3. `answers` ends with 1 if an answer differs for a reason that docs/measured/analysis.md does not tell.
set -eu

schedcat=$(readlink -f -- "$1")
mkdir -p "$2"
folder=$(readlink -f -- "$2")
what=$3
here=$(dirname -- "$(readlink -f -- "$0")")
cd "$here/../../.."
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release -p tactus-analysis --example draw_sets --example global_tests --example packings
ours=$target/release/examples

if [ ! -x "$folder/schedcat" ] || [ "$here/schedcat_answers.cpp" -nt "$folder/schedcat" ]; then
    parts="tasks cpu_time edf/baker edf/baruah edf/bcl edf/bcl_iterative edf/ffdbf edf/gfb edf/load edf/qpa edf/rta"
    sources=$(for part in $parts; do printf '%s ' "$schedcat/native/src/$part.cpp"; done)
    # shellcheck disable=SC2086
    g++ --std=gnu++14 -O3 -march=native -I"$schedcat/native/include" -o "$folder/schedcat" \
        "$here/schedcat_answers.cpp" $sources -lgmpxx -lgmp
fi

case $what in
speed)
    for kind in implicit constrained; do
        "$ours/draw_sets" "${4:-40}" 5 8 1000 $kind 100 > "$folder/speed-$kind.txt"
        "$ours/global_tests" time schedcat < "$folder/speed-$kind.txt" > "$folder/speed-$kind.ours"
        "$folder/schedcat" time < "$folder/speed-$kind.txt" > "$folder/speed-$kind.theirs"
        echo "$kind deadlines, 100 tasks on 8 cores: us a set"
        paste -d' ' "$folder/speed-$kind.theirs" "$folder/speed-$kind.ours" | awk '{
            same = ($5 == $12 && $7 == $14) ? "the same" : "ANOTHER"
            printf "  %-14s SchedCAT %12.2f   ours %9.3f   %8.0f times as fast, %s number accepted (%d of %d)\n", \
                $1, $2, $9, $2 / $9, same, $12, $14 }'
        "$folder/schedcat" < "$folder/speed-$kind.txt" > "$folder/speed-$kind.sc"
        "$ours/global_tests" schedcat < "$folder/speed-$kind.txt" > "$folder/speed-$kind.our"
        python3 "$here/compare_answers.py" "$folder/speed-$kind" "$ours/global_tests"
    done
    ;;
answers)
    each=${4:-5000}
    seed=1
    : > "$folder/all.txt"
    # Cores and numbers of tasks; 0 tasks: as many as a distribution of utilisations gives. Units of 1 us and 1 ms: coarse times
    # make ties and full processors likely.
    for kind in implicit constrained; do
        for shape in '2 4 1000' '2 6 1000000' '2 10 1000' '4 6 1000' '4 10 1000000' '4 16 1000' \
            '8 10 1000' '8 16 1000000' '8 24 1000' '3 0 1000000'; do
            # shellcheck disable=SC2086
            set -- $shape
            seed=$((seed + 1))
            "$ours/draw_sets" "$each" $seed "$1" "$3" $kind "$2" >> "$folder/all.txt"
        done
    done
    "$folder/schedcat" < "$folder/all.txt" > "$folder/all.sc"
    "$ours/global_tests" schedcat < "$folder/all.txt" > "$folder/all.our"
    python3 "$here/compare_answers.py" "$folder/all" "$ours/global_tests"
    ;;
one-core)
    each=${4:-17000}
    for kind in implicit constrained; do
        for shape in '4 1000' '8 1000000' '0 1000'; do
            # shellcheck disable=SC2086
            set -- $shape
            "$ours/draw_sets" "$each" 3 1 "$2" $kind "$1"
        done
    done > "$folder/one.txt"
    "$folder/schedcat" qpa < "$folder/one.txt" > "$folder/one.sc"
    "$ours/global_tests" qpa < "$folder/one.txt" > "$folder/one.our"
    cmp "$folder/one.sc" "$folder/one.our"
    echo "$(wc -l < "$folder/one.txt") sets, $(grep -c 1 "$folder/one.our") fit by QPA, all answers the same"
    ;;
packings)
    each=${4:-34000}
    for shape in '2 6 1000' '4 0 1000000' '8 24 1000'; do
        # shellcheck disable=SC2086
        set -- $shape
        "$ours/draw_sets" "$each" 4 "$1" "$3" implicit "$2"
    done > "$folder/packings.txt"
    python3 "$here/schedcat_packings.py" "$schedcat" < "$folder/packings.txt" > "$folder/packings.sc"
    "$ours/packings" < "$folder/packings.txt" > "$folder/packings.our"
    cmp "$folder/packings.sc" "$folder/packings.our"
    echo "$(wc -l < "$folder/packings.txt") sets, packed alike by next, first, worst and best fit, as given and decreasing"
    ;;
*)
    echo "answers, one-core, packings or speed?" >&2
    exit 2
    ;;
esac
