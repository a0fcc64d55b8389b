#!/bin/bash
# Measures what calls and switches cost on Debian's PREEMPT_RT kernel, in the emulator in which ours are measured (./tactus bench kernel).
#
#   lab/studies/peers/linux-rt/pairs.sh out/study/linux-rt
#
# Starts a machine with two cores, of which the second begins last, whose only program is pairs.c. Needs what run.sh needs, and takes a minute. What it leaves: pairs.csv
# and linux-pairs.md. KERNEL (a package) may be set.
set -euo pipefail

out=${1:?the folder of the results}
kernel=${KERNEL:-linux-image-6.1.0-56-rt-amd64-unsigned}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(realpath "$out")
. "$here/machine.sh"
gcc -O2 -Wall -static -no-pie -o "$out/init" "$here/pairs.c" -lpthread
{
    archived init $((0100755)) "$out/init"
    archived 'TRAILER!!!' 0 /dev/null
} >"$out/initramfs"
machine "$out/initramfs" 2 0 >"$out/log"
grep -q '^END' "$out/log" || { echo "the machine did not come to its end" >&2; tail "$out/log" >&2; exit 1; }
{
    echo path,least,median,p99,greatest
    sed -n 's/, server/; server/; s/, both/; both/; s/^RESULT,//p' "$out/log"
} >"$out/pairs.csv"
{
    echo "# PREEMPT_RT: calls and switches"
    echo
    echo "Made by \`lab/studies/peers/linux-rt/pairs.sh\` ($kernel, one instruction a nanosecond, \`mitigations=off\`, 4,000 samples"
    echo "each); instructions, less an empty pair of readings. All threads under \`SCHED_FIFO\`, memory locked. Ours: [the kernel](kernel.md)."
    echo
    awk -F, 'NR == 1 { print "| path | least | median | 99 of 100 below | greatest |\n|---|--:|--:|--:|--:|"; next }
        { printf "| %s | %s | **%s** | %s | %s |\n", $1, $2, $3, $4, $5 }' "$out/pairs.csv"
} >"$out/linux-pairs.md"
cat "$out/linux-pairs.md"
