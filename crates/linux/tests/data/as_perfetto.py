#!/usr/bin/env python3
"""Writes a text of tracefs as Perfetto traces, by Perfetto's own messages (PyPI: perfetto).

    as_perfetto.py examples/linux/trace.txt plain.pftrace compact.pftrace

The first has an event for each line, the second switches and wake-ups in columns within compressed packets.
"""
import re
import sys
import zlib

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

LINE = re.compile(r"^\s*(.*)-(\d+)\s+\[(\d+)\] \S+\s+(\d+)\.(\d+): (\w+): (.*)$")
SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+) next_prio=(\d+)")
WOKEN = re.compile(r"comm=(.*) pid=(\d+) prio=(\d+) target_cpu=(\d+)")
STATES = {"R": 0, "R+": 256, "S": 1, "D": 2, "I": 128, "X": 16, "Z": 32}


def events(path):
    for line in open(path):
        found = LINE.match(line)
        if found:
            _, pid, cpu, seconds, part, name, fields = found.groups()
            yield int(cpu), int(seconds) * 10**9 + int(part.ljust(9, "0")), int(pid), name, fields


def plain(all_events):
    """Bundles of 100 ms, those of a processor one after another."""
    trace = Trace()
    bundles = {}
    for cpu, time, pid, name, fields in all_events:
        key = (time // 100_000_000, cpu)
        if key not in bundles:
            bundles[key] = trace.packet.add().ftrace_events
            bundles[key].cpu = cpu
        event = bundles[key].event.add()
        event.timestamp, event.pid = time, pid
        if name == "sched_switch":
            it = SWITCH.match(fields).groups()
            to = event.sched_switch
            to.prev_comm, to.prev_pid, to.prev_prio, to.prev_state = it[0], int(it[1]), int(it[2]), STATES[it[3]]
            to.next_comm, to.next_pid, to.next_prio = it[4], int(it[5]), int(it[6])
        elif name in ("sched_waking", "sched_wakeup"):
            it = WOKEN.match(fields).groups()
            to = getattr(event, name)
            to.comm, to.pid, to.prio, to.target_cpu = it[0], int(it[1]), int(it[2]), int(it[3])
        elif name in ("print", "tracing_mark_write"):
            event.print.buf = fields
        else:
            event.cpu_idle.state = 1
    return trace


def compact(trace):
    """The same in columns, in packets of their own, with the tree of processes before."""
    inner = Trace()
    tree = inner.packet.add().process_tree
    seen = set()
    for packet in trace.packet:
        old = packet.ftrace_events
        bundle = inner.packet.add().ftrace_events
        bundle.cpu = old.cpu
        columns, names = bundle.compact_sched, []
        times = [0, 0]

        def index(name):
            if name not in names:
                names.append(name)
            return names.index(name)

        for event in old.event:
            if event.HasField("sched_switch"):
                it = event.sched_switch
                columns.switch_timestamp.append(event.timestamp - times[0])
                times[0] = event.timestamp
                columns.switch_prev_state.append(it.prev_state)
                columns.switch_next_pid.append(it.next_pid)
                columns.switch_next_prio.append(it.next_prio)
                columns.switch_next_comm_index.append(index(it.next_comm))
                if it.prev_pid not in seen:
                    seen.add(it.prev_pid)
                    thread = tree.threads.add()
                    thread.tid, thread.tgid, thread.name = it.prev_pid, 1, it.prev_comm
            elif event.HasField("sched_waking"):
                it = event.sched_waking
                columns.waking_timestamp.append(event.timestamp - times[1])
                times[1] = event.timestamp
                columns.waking_pid.append(it.pid)
                columns.waking_target_cpu.append(it.target_cpu)
                columns.waking_prio.append(it.prio)
                columns.waking_comm_index.append(index(it.comm))
            else:
                bundle.event.add().CopyFrom(event)
        columns.intern_table.extend(names)
    out = Trace()
    out.packet.add().compressed_packets = zlib.compress(inner.SerializeToString(), 9)
    return out


source, to_plain, to_compact = sys.argv[1:]
made = plain(events(source))
open(to_plain, "wb").write(made.SerializeToString())
open(to_compact, "wb").write(compact(made).SerializeToString())
