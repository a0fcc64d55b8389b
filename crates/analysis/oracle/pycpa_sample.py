#!/usr/bin/env python3
"""Response times of random task sets by pyCPA, as a sample that the tests of this crate compare with.

Needs pyCPA (github.com/IDA-TUBS/pycpa) on PYTHONPATH. Writes lines

    scheduler;C,T,J C,T,J ...;R R ...

most urgent task first, all in the same unit; R counts from the release (pyCPA's convention: jitter is not part of it),
and is "-" where pyCPA finds none. With BURSTS (SPP again) a task is `C,T,J,d`, with a jitter of up to four periods and the least distance of
two arrivals. For EDF a task is `C,T,J,D`; the scheduler was taken out of pyCPA in 2013, so that
needs the state before its commit 7a9412d.

    PYTHONPATH=pycpa python3 crates/analysis/oracle/pycpa_sample.py 150 > crates/analysis/tests/data/pycpa.csv
    PYTHONPATH=pycpa python3 crates/analysis/oracle/pycpa_sample.py 150 21 BURSTS > crates/analysis/tests/data/pycpa-bursts.csv
    PYTHONPATH=pycpa python3 crates/analysis/oracle/pycpa_sample.py 50000 7 SPP SPNP > large.csv
    PYTHONPATH=pycpa-before-7a9412d python3 crates/analysis/oracle/pycpa_sample.py 100000 8 EDF > edf.csv
    TACTUS_PYCPA=$PWD/large.csv cargo test --release -p tactus-analysis --test all pycpa:: -- --ignored --nocapture
"""

import random
import sys
import time

# Python took the name away that the older state asks for.
time.clock = time.process_time

from pycpa import analysis, model, options, schedulers

KNOWN = {"SPP": "SPPScheduler", "SPNP": "SPNPScheduler", "EDF": "EDFPScheduler", "BURSTS": "SPPScheduler"}


def drawn(rng, name):
    n = rng.randint(1, 6)
    load = rng.uniform(0.3, 0.98)
    weights = [rng.uniform(0.05, 1) for _ in range(n)]
    tasks = []
    for weight in weights:
        period = rng.choice([100, 170, 250, 400, 630, 1000])
        execution = max(1, int(period * load * weight / sum(weights)))
        jitter = rng.choice([0, 0, rng.randint(1, 60)])
        if name == "BURSTS":
            bunched = rng.choice([0, rng.randint(1, 4 * period)])
            tasks.append((execution, period, bunched, rng.randint(0, period // 4) if bunched else 0))
        elif name == "EDF":
            # Without jitter: under EDF pyCPA counts a deadline from the release, this crate from the arrival.
            tasks.append((execution, period, 0, rng.randint(execution, 2 * period)))
        else:
            tasks.append((execution, period, jitter))
    return sorted(tasks, key=lambda task: task[1])


def responses(name, tasks):
    scheduler = getattr(schedulers, KNOWN[name])
    system = model.System()
    resource = system.bind_resource(model.Resource("cpu", scheduler()))
    bound = []
    for place, (execution, period, jitter, *more) in enumerate(tasks):
        task = resource.bind_task(
            model.Task(f"t{place}", wcet=execution, bcet=execution, scheduling_parameter=place + 1)
        )
        if name == "EDF":
            task.deadline = more[0]
        distance = more[0] if name == "BURSTS" else 0
        task.in_event_model = model.PJdEventModel(P=period, J=jitter, dmin=distance)
        bound.append(task)
    try:
        results = analysis.analyze_system(system)
    except analysis.NotSchedulableException:
        return ["-"] * len(tasks)
    return [str(int(results[task].wcrt)) for task in bound]


def main():
    names = sys.argv[3:] or ["SPP", "SPNP"]
    options.init_pycpa(implicit=True)
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 20)
    for _ in range(int(sys.argv[1])):
        for name in names:
            tasks = drawn(rng, name)
            line = " ".join(",".join(map(str, task)) for task in tasks)
            print(f"{name};{line};{' '.join(responses(name, tasks))}")


if __name__ == "__main__":
    main()
