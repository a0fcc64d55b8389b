#!/bin/bash
# Records what Debian's PREEMPT_RT kernel does with a few threads, in the emulator: the trace that `tactus judge` is to read.
#
#   lab/studies/peers/linux-rt/record.sh out/linux examples/linux/trace.txt
#   ./tactus judge examples/linux/control.toml --linux examples/linux/trace.txt
#
# SET may name a file with a line for each thread (see record.c); else the three of the example. Needs what run.sh needs.
set -euo pipefail

out=${1:?the folder for the kernel and the machine} trace=${2:?the file for the trace}
kernel=${KERNEL:-linux-image-6.1.0-56-rt-amd64-unsigned}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(realpath "$out")

. "$here/machine.sh"
gcc -O2 -Wall -static -no-pie -o "$out/init" "$here/record.c" -lpthread
if [ -n "${SET:-}" ]; then cp "$SET" "$out/set"; else
    printf '%s\n' 'control 0 90 5000 1000 -1' 'steer 0 80 10000 3000 13' 'log 0 70 20000 3000 -1' >"$out/set"
fi
{
    archived init $((0100755)) "$out/init"
    archived set $((0100644)) "$out/set"
    archived 'TRAILER!!!' 0 /dev/null
} >"$out/initramfs"
machine "$out/initramfs" "${CORES:-1}" 1 >"$out/log"
grep -q '^END' "$out/log" || { echo "the machine did not come to its end" >&2; tail "$out/log" >&2; exit 1; }
sed -n '/^BEGIN$/,/^END$/p' "$out/log" | sed '1d;$d' >"$trace"
