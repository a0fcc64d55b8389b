# What run.sh and pairs.sh share: Debian's kernel for real-time, unpacked, and a machine whose only program is one of ours. To be sourced,
# with $out (where all of it lies) and $kernel (a package) set.

if ! compgen -G "$out/kernel/boot/vmlinuz-*" >/dev/null; then
    (cd "$out" && apt-get download "$kernel" && dpkg-deb -x "${kernel}"_*.deb kernel && rm "${kernel}"_*.deb)
fi
# Unpacked here: the emulated machine would take most of its time for that.
if [ ! -s "$out/vmlinux" ]; then
    vmlinuz=$(compgen -G "$out/kernel/boot/vmlinuz-*")
    packed=$(LC_ALL=C grep -aboP '\xFD7zXZ\x00' "$vmlinuz" | head -1 | cut -d: -f1)
    tail -c +$((packed + 1)) "$vmlinuz" | xz -dc --single-stream >"$out/vmlinux" 2>/dev/null || true
fi

# One file of an archive that the kernel unpacks: its name there, its mode, and the file.
archived() {
    local size=$(stat -c %s "$3") name=$1
    printf '070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\0' \
        $((++inode)) "$2" 0 0 1 0 "$size" 0 0 0 0 $((${#name} + 1)) 0 "$name"
    padding $((110 + ${#name} + 1))
    cat "$3"
    padding "$size"
}
padding() { head -c $(((4 - $1 % 4) % 4)) /dev/zero; }
inode=0

# The kernel with this archive, on the given number of cores, an instruction taking 2^N ns; further options follow.
machine() {
    local initramfs=$1 cores=$2 shift=$3
    shift 3
    timeout 3600 qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none -machine pc,hpet=off -cpu max \
        -m 512 -smp "$cores" -accel tcg -icount "shift=$shift,sleep=off" -seed 1 -rtc base=2024-01-01T00:00:00,clock=vm \
        -kernel "$out/vmlinux" -initrd "$initramfs" -serial stdio "$@" -append \
        "console=ttyS0 quiet mitigations=off tsc=reliable nokaslr noapic maxcpus=1 reboot=t" </dev/null | stdbuf -oL tr -d '\r'
}
