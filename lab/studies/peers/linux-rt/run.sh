#!/bin/bash
# Measures Debian's PREEMPT_RT kernel as the overhead study measures ours: the same sets of tasks, the same emulator.
#
#   ./tactus study overheads                                   # leaves out/study/overheads/sets.csv
#   lab/studies/peers/linux-rt/run.sh out/study/overheads/sets.csv out/study/linux-rt
#
# For each spread it starts a machine whose only program is load.c and follows the kernel with watch.c. Needs Debian's apt-get,
# a C compiler with a static C library and qemu-system-x86_64; downloads 70 MB. What it leaves: samples/, figures.csv,
# overheads-linux.md. DURATION (ns), CORES, SET and KERNEL (a package) may be set.
set -euo pipefail

sets=${1:?the sets of tasks: sets.csv of the overhead study}
out=${2:?the folder of the results}
kernel=${KERNEL:-linux-image-6.1.0-56-rt-amd64-unsigned}
duration=${DURATION:-300000000}
cores=${CORES:-4}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/samples"
sets=$(realpath "$sets") out=$(realpath "$out")

. "$here/machine.sh"
gcc -O2 -Wall -static -no-pie -o "$out/init" "$here/load.c" -lpthread
gcc -O2 -Wall -shared -fPIC -o "$out/watch.so" "$here/watch.c"

# The program and a file for it.
archive() {
    archived init $((0100755)) "$out/init"
    archived "$1" $((0100644)) "$2"
    archived 'TRAILER!!!' 0 /dev/null
}

# What is followed: a point and the function whose first instruction it is.
followed='timer asm_sysvec_apic_timer_interrupt
event asm_sysvec_reschedule_ipi
event asm_sysvec_call_function_single
event asm_sysvec_call_function
event asm_sysvec_irq_work
event asm_common_interrupt
expire hrtimer_interrupt
wake hrtimer_wakeup
leave irqentry_exit
schedule __schedule
switch __switch_to_asm
idle default_idle_call'
if [ ! -s "$out/symbols" ]; then
    cut -d' ' -f2 <<<"$followed" >"$out/names"
    archive names "$out/names" >"$out/initramfs"
    machine "$out/initramfs" "$cores" 1 >"$out/log"
    grep -q '^END' "$out/log" || { echo "the machine did not tell its symbols" >&2; tail "$out/log" >&2; exit 1; }
    mv "$out/log" "$out/symbols"
fi
nm "$out/init" >"$out/init.symbols"
points=out=$out/samples/now
point() {
    local address
    address=$(awk -v name="$2" '$3 == name && $2 ~ /[tT]/ { print $1; exit }' "$3")
    [ -n "$address" ] || { echo "no function $2" >&2; exit 1; }
    points+=,$1=$address
}
while read -r name function; do
    point "$name" "$function" "$out/symbols"
done <<<"$followed"
for name in job_begins job_ends run_begins run_ends; do
    point $name $name "$out/init.symbols"
done

# A machine for each spread runs all its sets, one after the other.
rm -f "$out"/samples/* "$out/results"
for spread in global clustered partitioned; do
    awk -F, -v s=$spread -v head="$spread $cores $duration" -v only="${SET:-}" '
        function tell() { if (n) printf "%d\n%s", n, lines; n = 0; lines = "" }
        BEGIN { print head }
        NR > 1 && $1 == s && (only == "" || $3 == only) {
            if ($2 " " $3 != set) { tell(); set = $2 " " $3 }
            n++
            lines = lines ($5 == "any" ? -1 : $5) " " $6 " " $7 "\n"
        }
        END { tell() }' "$sets" >"$out/set"
    archive set "$out/set" >"$out/initramfs"
    machine "$out/initramfs" "$cores" 1 -plugin "$out/watch.so,$points" >"$out/log"
    grep -q '^END' "$out/log" || { echo "$spread: the machine did not come to its end" >&2; tail "$out/log" >&2; exit 1; }
    grep '^RESULT' "$out/log" | sed "s/RESULT/$spread/" | tee -a "$out/results"
    # Each sample gets the number of tasks of its run: runs are in the order of the set.
    awk 'NR == FNR { if (NF == 1) tasks[++runs] = $1; next } $1 == "run" { n = tasks[++now]; next } { print n, $0 }' \
        "$out/set" "$out/samples/now" >"$out/samples/$spread"
done

echo spread,n,what,samples,mean,median,p99,worst >"$out/figures.csv"
for spread in global clustered partitioned; do
    sort -k1,1n -k2,2 -k3,3n "$out/samples/$spread" | awk -v spread=$spread '
        function rank(part,  at) { at = int(count * part); at += at < count * part; return value[at < 1 ? 1 : at] }
        function tell() {
            if (count) printf "%s,%s,%d,%.0f,%d,%d,%d\n", spread, what, count, sum / count, rank(.5), rank(.99), rank(1)
            count = sum = 0
        }
        $1 "," $2 != what { tell(); what = $1 "," $2 }
        { value[++count] = $3; sum += $3 }
        END { tell() }' >>"$out/figures.csv"
done
# Beside ours, which lie where the sets do.
ours=$(dirname "$sets")/overheads.csv
[ -s "$ours" ] || ours=/dev/null
# A table: its name, what is ours in it, and what is Linux's.
beside() {
    printf '\n## %s\n\n%s\n\n' "$1" "$4"
    awk -F, -v ours="$2" -v theirs="$3" '
        FNR == 1 { from = FILENAME == ARGV[ARGC - 1] ? "Linux" : "Tactus"; next }
        from == "Linux" && !($2 in seen) { seen[$2] = 1; order[++numbers] = $2 }
        { cell[from, $3, $1, $2] = $5 ", " $7 ", " $8 }
        function row(spread, from, what, name,  i, key) {
            printf "| %s, %s |", spread, name
            for (i = 1; i <= numbers; i++) {
                key = from SUBSEP what SUBSEP spread SUBSEP order[i]
                printf " %s |", key in cell && cell[key] != "0, 0, 0" ? cell[key] : "none"
            }
            printf "\n"
        }
        END {
            printf "| n |"
            for (i = 1; i <= numbers; i++) printf " %s |", order[i]
            printf "\n|---|"
            for (i = 1; i <= numbers; i++) printf "--:|"
            printf "\n"
            count = split(theirs, kinds, " ")
            split("global clustered partitioned", spreads, " ")
            for (s = 1; s <= 3; s++) {
                if (ours != "") row(spreads[s], "Tactus", ours, "Tactus")
                for (k = 1; k <= count; k++)
                    row(spreads[s], "Linux", kinds[k], count > 1 ? "Linux, " kinds[k] : "Linux")
            }
        }' "$ours" "$out/figures.csv"
}
{
    echo "# Overheads of EDF: PREEMPT_RT beside ours"
    echo
    echo "Made by \`lab/studies/peers/linux-rt/run.sh\` ($kernel, $cores cores, the sets of [the study](overheads.md), $((duration / 1000000)) ms each);"
    echo "instructions of one core. Mean, 99 of 100 below, worst. What the figures mean: [The overhead study](../lab/study-overheads.md). Every figure: [CSV](overheads/linux.csv)."
    beside Release release 'release choosing' 'Tactus: a decision in which jobs were released, choosing included. Linux: *release* is the handler of timers (`hrtimer_interrupt` to `irqentry_exit`) when it woke threads, *choosing* `__schedule` up to the switch where no job ended.'
    beside Scheduling scheduling scheduling 'Tactus: a decision at the end of a job. Linux: `__schedule` up to the switch at the end of a job.'
    beside Switch switch switch 'Tactus: from the end of a decision through a job with nothing to do to the look at the clock of the next one. Linux: from `__switch_to_asm` to the first instruction of a job.'
    beside Wake-up wake-up wake-up 'A sleeping core, its timer, and the first job that it runs. Tactus: from the nominal release, while all other cores sleep, to the look at the clock after a job with nothing to do. Linux: from the first instruction of the interrupt to the first of the job.'
    beside 'From job to job' '' next-job 'Linux: from the system call at the end of a job to the first instruction of the next on the same core.'
} >"$out/overheads-linux.md"
cat "$out/overheads-linux.md"
