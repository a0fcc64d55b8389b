#!/usr/bin/env python3
"""Compares our simulator with SimSo 0.8.5: the same schedules, and the speed of both, side by side.

    python3 -m venv target/simso && target/simso/bin/pip install simso==0.8.5
    cargo build --release -p tactus-sim --example schedule
    target/simso/bin/python crates/sim/oracle/simso_compare.py [--schedule PROGRAM] [--sets N]

Task sets are drawn at random; all times are whole nanoseconds, which both simulators hold exactly. Both run each
set; what is compared is every stretch of time in which a job runs: start, preemption, completion, and for one core
or partitioned policies also the core. SimSo and we choose differently among idle cores, so under global EDF a job's
stretches are compared wherever they run. Exit status 0 if all schedules are equal and we are at least 100 times as
fast.
"""

import argparse
import contextlib
import io
import math
import os
import random
import subprocess
import sys
import time
import types

# SimSo imports a module that newer Pythons have dropped; its built-in schedulers do not use it.
sys.modules["imp"] = types.ModuleType("imp")

from simso.configuration import Configuration
from simso.core import Model
from simso.core.JobEvent import JobEvent

MS = 1_000_000
# SimSo's scheduler, our policy, numbers of cores, tasks for each core, utilisations of a core
CASES = [
    ("EDF_mono", "partitioned-edf", (1,), (5, 20, 100), (0.5, 0.9, 1.1)),
    ("RM_mono", "partitioned-rm", (1,), (5, 20, 100), (0.5, 0.9, 1.1)),
    ("P_EDF", "partitioned-edf", (2, 4), (5, 20), (0.5, 0.8)),
    ("EDF", "global-edf", (2, 4), (5, 20), (0.5, 0.9, 1.1)),
]


def draw(rng, cores, count, utilisation):
    """UUniFast-discard; periods log-uniform from 10 to 200 ms and offsets to the nanosecond, so that ties between
    deadlines, which the two simulators break differently, do not occur in practice."""
    while True:
        left, shares = utilisation * cores, []
        for after in range(count - 1, 0, -1):
            rest = left * rng.random() ** (1 / after)
            shares.append(left - rest)
            left = rest
        shares.append(left)
        if max(shares) <= 1:
            break
    tasks = []
    for share in shares:
        period = int(math.exp(rng.uniform(math.log(10 * MS), math.log(200 * MS))))
        tasks.append((rng.randrange(period), period, max(1000, int(period * share))))
    return tasks


def run_simso(scheduler, cores, tasks, duration):
    """Stretches per core, each task's core, finished jobs, seconds."""
    configuration = Configuration()
    # One cycle is a nanosecond, and so is SimSo's "millisecond": every number is whole.
    configuration.cycles_per_ms = 1
    configuration.duration = duration
    configuration.scheduler_info.clas = "simso.schedulers." + scheduler
    for i, (offset, period, execution) in enumerate(tasks):
        configuration.add_task(name=f"T{i}", identifier=i, period=period, activation_date=offset, wcet=execution,
                               deadline=period, abort_on_miss=False)
    for i in range(cores):
        configuration.add_processor(name=f"CPU{i}", identifier=i)
    configuration.check_all()
    model = Model(configuration)
    with contextlib.redirect_stdout(io.StringIO()):  # its global EDF prints every decision
        start = time.process_time()
        model.run_model()
        seconds = time.process_time() - start
    stretches, finished = [], 0
    for task in model.task_list:
        began = {}
        for when, event in task.monitor:
            job = int(event.job.name.rsplit("_", 1)[1]) - 1
            if event.event == JobEvent.EXECUTE:
                began[job] = (when, event.cpu.identifier)
            elif job in began:
                start, cpu = began.pop(job)
                stretches.append((cpu, start, when, task.identifier, job))
                finished += event.event == JobEvent.TERMINATED
            else:
                finished += event.event == JobEvent.TERMINATED
        stretches += [(cpu, start, duration, task.identifier, job) for job, (start, cpu) in began.items()]
    cores_of = {task.identifier: task.cpu.identifier if task.cpu else 0 for task in model.task_list}
    return stretches, cores_of, finished, seconds


def run_ours(program, policy, cores, tasks, cores_of, duration):
    """Stretches per core, finished jobs, seconds with records kept, seconds without."""
    bound = policy.startswith("partitioned")
    lines = [f"{cores_of[i] if bound else ''},{offset},{period},{period},{execution}"
             for i, (offset, period, execution) in enumerate(tasks)]
    done = subprocess.run([program, policy, str(cores), str(duration), "5"], input="\n".join(lines), text=True,
                          capture_output=True)
    if done.returncode:
        sys.exit(done.stderr)
    first, *rest = done.stdout.splitlines()
    jobs, kept, unkept = first.split(",")
    return [tuple(map(int, line.split(","))) for line in rest], int(jobs), float(kept), float(unkept)


def joined(stretches, with_core):
    """Stretches in order; those of one job that follow each other without a gap are one, empty ones are none."""
    result = []
    key = lambda s: ((s[0] if with_core else 0), s[3], s[4], s[1], s[2])
    for core, task, job, start, end in sorted(map(key, stretches)):
        if start == end:
            continue
        if result and result[-1][:3] == (core, task, job) and result[-1][4] == start:
            result[-1] = (core, task, job, result[-1][3], end)
        else:
            result.append((core, task, job, start, end))
    return sorted(result, key=lambda s: (s[3], s))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    parser.add_argument("--schedule", default=f"{target}/release/examples/schedule", help="our simulator's program")
    parser.add_argument("--sets", type=int, default=2, help="task sets of each kind (default 2)")
    parser.add_argument("--seconds", type=float, default=2.0, help="virtual time of each run (default 2 s)")
    options = parser.parse_args()
    duration = int(options.seconds * 1000) * MS

    equal = total = compared = 0
    worst = math.inf
    print(f"{'SimSo':9} cores tasks  load    jobs  stretches   SimSo jobs/s     ours jobs/s  (unrecorded)   ratio")
    for scheduler, policy, all_cores, counts, loads in CASES:
        for cores in all_cores:
            for count in counts:
                for load in loads:
                    for number in range(options.sets):
                        rng = random.Random(f"{scheduler} {cores} {count} {load} {number}")
                        tasks = draw(rng, cores, count * cores, load)
                        theirs, cores_of, their_jobs, their_s = run_simso(scheduler, cores, tasks, duration)
                        ours, our_jobs, kept, unkept = run_ours(options.schedule, policy, cores, tasks, cores_of, duration)
                        with_core = policy.startswith("partitioned")
                        left, right = joined(theirs, with_core), joined(ours, with_core)
                        total += 1
                        compared += len(left)
                        if left == right and their_jobs == our_jobs:
                            equal += 1
                        else:
                            at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
                            print(f"DIFFERENT: {scheduler} {cores} {count} {load} {number}, {their_jobs} and {our_jobs} jobs")
                            print(f"  (core, task, job, start, end) SimSo {left[at:at + 2]}\n  ours {right[at:at + 2]}")
                        ratio = their_s / kept
                        worst = min(worst, ratio)
                        if number == 0:
                            print(f"{scheduler:9} {cores:5} {count * cores:5} {load:5} {our_jobs:7} {len(left):10} "
                                  f"{their_jobs / their_s:14,.0f} {our_jobs / kept:15,.0f} {our_jobs / unkept:13,.0f} "
                                  f"{ratio:7,.0f}", flush=True)
    print(f"{equal} of {total} schedules equal, {compared} stretches compared; "
          f"we are at least {worst:,.0f} times as fast, records kept")
    sys.exit(0 if equal == total and worst >= 100 else 1)


if __name__ == "__main__":
    main()
