#!/bin/bash
# Runs systems by rt-app on Debian's PREEMPT_RT kernel in the emulator, has their traces judged, and holds the verdicts against what rt-app itself
# measured; then plants faults and asks whether the verdict names them.
#
#   lab/studies/peers/linux-rt/judged.sh out/study/linux-judged
#
# Needs what run.sh needs, cpio and python3; downloads 75 MB. What it leaves: judged.csv, faults.csv, linux-judged.md, and of each system its
# file, rt-app's files and logs, the trace and the results. TACTUS (the program), SYSTEMS (how many, 40) and KERNEL (a package) may be set.
set -euo pipefail

out=${1:?the folder of the results}
kernel=${KERNEL:-linux-image-6.1.0-56-rt-amd64-unsigned}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(realpath "$out")
export TACTUS=${TACTUS:-$here/../../../../tactus}

. "$here/machine.sh"

# What runs there: packages, unpacked; a shell; modules for a disk by which the traces come out.
root=$out/root
if [ ! -x "$root/bin/busybox" ]; then
    packages='rt-app libjson-c5 trace-cmd libtraceevent1 libtracefs1 libzstd1 libc6 libgcc-s1 busybox-static'
    mkdir -p "$out/packages" "$root/systems" "$root/modules" "$root"/{bin,proc,sys,dev,tmp}
    (cd "$out/packages" && apt-get download $packages)
    for package in "$out"/packages/*.deb; do dpkg-deb -x "$package" "$root"; done
    rm -rf "$root/usr/share" "$root"/lib/x86_64-linux-gnu/gconv "$root/etc"
    cp "$root"/usr/bin/{rt-app,trace-cmd} "$root/bin"
    for module in virtio/virtio virtio/virtio_ring virtio/virtio_pci_modern_dev virtio/virtio_pci_legacy_dev virtio/virtio_pci block/virtio_blk; do
        cp "$(find "$out/kernel" -path "*/drivers/$module.ko")" "$root/modules"
    done
fi
cp "$here/judged-init.sh" "$root/init"
chmod +x "$root/init"

python3 "$here/judged.py" make "$out" "${SYSTEMS:-40}"
# A machine for each number of cores runs all systems for it, one after another.
for folder in "$out"/machines/*; do
    cores=$(basename "$folder")
    rm -rf "$root/systems"
    cp -r "$folder" "$root/systems"
    (cd "$root" && find . | cpio -o -H newc --quiet) >"$out/initramfs"
    truncate -s 0 "$out/disk" && truncate -s 512M "$out/disk"
    machine "$out/initramfs" "$cores" 1 -drive "file=$out/disk,format=raw,if=none,id=disk" -device virtio-blk-pci,drive=disk >"$out/log.$cores"
    grep -q '^END' "$out/log.$cores" || { echo "the machine did not come to its end" >&2; tail "$out/log.$cores" >&2; exit 1; }
    tar -xf "$out/disk" -C "$out"
    chmod -R u+rwX "$out/ran"
done
python3 "$here/judged.py" judge "$out"
