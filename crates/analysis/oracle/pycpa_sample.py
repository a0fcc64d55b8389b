#!/usr/bin/env python3
"""Response times of random task sets by pyCPA, as a sample that the tests of this crate compare with.

Needs pyCPA (github.com/IDA-TUBS/pycpa) on PYTHONPATH. Writes lines

    scheduler;C,T,J C,T,J ...;R R ...

most urgent task first, all in the same unit; R counts from the release (pyCPA's convention: jitter is not part of it),
and is "-" where pyCPA finds none.

    PYTHONPATH=pycpa python3 crates/analysis/oracle/pycpa_sample.py 150 > crates/analysis/tests/data/pycpa.csv
"""

import random
import sys

from pycpa import analysis, model, options, schedulers


def drawn(rng):
    n = rng.randint(1, 6)
    load = rng.uniform(0.3, 0.98)
    weights = [rng.uniform(0.05, 1) for _ in range(n)]
    tasks = []
    for weight in weights:
        period = rng.choice([100, 170, 250, 400, 630, 1000])
        execution = max(1, int(period * load * weight / sum(weights)))
        tasks.append((execution, period, rng.choice([0, 0, rng.randint(1, 60)])))
    return sorted(tasks, key=lambda task: task[1])


def responses(scheduler, tasks):
    system = model.System()
    resource = system.bind_resource(model.Resource("cpu", scheduler()))
    bound = []
    for place, (execution, period, jitter) in enumerate(tasks):
        task = resource.bind_task(
            model.Task(f"t{place}", wcet=execution, bcet=execution, scheduling_parameter=place + 1)
        )
        task.in_event_model = model.PJdEventModel(P=period, J=jitter)
        bound.append(task)
    try:
        results = analysis.analyze_system(system)
    except analysis.NotSchedulableException:
        return ["-"] * len(tasks)
    return [str(int(results[task].wcrt)) for task in bound]


def main():
    options.init_pycpa(implicit=True)
    rng = random.Random(20)
    for _ in range(int(sys.argv[1])):
        for name, scheduler in (("SPP", schedulers.SPPScheduler), ("SPNP", schedulers.SPNPScheduler)):
            tasks = drawn(rng)
            line = " ".join(",".join(map(str, task)) for task in tasks)
            print(f"{name};{line};{' '.join(responses(scheduler, tasks))}")


if __name__ == "__main__":
    main()
