#!/bin/busybox sh
# The first program of judged.sh's machine: runs each system there is, and writes what came of it to the disk.
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tracefs none /sys/kernel/tracing
mount -t tmpfs none /tmp
mount -t cgroup2 none /sys/fs/cgroup
for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do insmod /modules/$module.ko; done
for cpu in /sys/devices/system/cpu/cpu[1-9]/online; do [ -e $cpu ] && echo 1 >$cpu; done
echo "cores $(nproc), $(uname -rv)"
# How long rt-app's loop takes here: the same in each run, since instructions are counted.
mkdir -p /tmp/ran /tmp/calibrate
cd /tmp/calibrate
echo '{ "tasks" : { "one" : { "loop" : 1, "run" : 1000, "sleep" : 1000 } }, "global" : { "duration" : 1, "calibration" : "CPU0" } }' >one.json
loop=$(rt-app one.json 2>&1 | sed -n 's/.*pLoad = \([0-9]*\)ns.*/\1/p')
echo "loop of $loop ns"
limit=/proc/sys/kernel/sched_rt_runtime_us
for system in /systems/*; do
    name=$(basename $system)
    cp -r $system /tmp/ran/$name
    cd /tmp/ran/$name
    sed -i "s/\"calibration\" : \"CPU[0-9]*\"/\"calibration\" : $loop/" *.json
    # SCHED_DEADLINE admits by it; what FIFO leaves lets the run end.
    if grep -q SCHED_DEADLINE *.json; then echo 950000 >$limit; else echo 990000 >$limit; fi
    timeout -s KILL 30 sh ./run.sh >log 2>&1
    echo "ran $name: $?, $(cut -d' ' -f1 /proc/uptime)"
done
cd /tmp
tar cf /dev/vda ran
sync
echo END
poweroff -f
