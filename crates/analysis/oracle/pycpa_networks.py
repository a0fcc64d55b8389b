#!/usr/bin/env python3
"""End-to-end responses of random rows of nodes by pyCPA, as a sample that the tests of this crate compare with.

Needs pyCPA (github.com/IDA-TUBS/pycpa) on PYTHONPATH. Writes lines

    nodes;C,T,from,to C,T,from,to ...;R R ...

most urgent stream first. C is the length of a frame in microseconds and in bytes. Each node is a processor without preemption; a stream is a
task on each node of its way but the last, and its path's latency the sum of their responses. Eight bytes of the least urgency may
be in front of each frame.

    PYTHONPATH=pycpa python3 crates/analysis/oracle/pycpa_networks.py 60 > crates/analysis/tests/data/pycpa-networks.csv
"""

import random
import sys
import time

time.clock = time.process_time

from pycpa import analysis, model, options, schedulers


def drawn(rng):
    nodes = rng.randint(2, 5)
    load = rng.uniform(0.2, 0.9)
    many = rng.randint(1, 5)
    streams = []
    for _ in range(many):
        frame = rng.choice([rng.randint(40, 268), rng.randint(270, 1000)])
        period = int(frame * many / load * rng.uniform(0.7, 1.5))
        start, end = rng.sample(range(nodes), 2)
        streams.append((frame, period, start, end))
    return nodes, sorted(streams, key=lambda it: it[1])


def responses(nodes, streams):
    system = model.System()
    senders = [system.bind_resource(model.Resource(f"n{n}", schedulers.SPNPScheduler())) for n in range(nodes)]
    for n, sender in enumerate(senders):
        other = sender.bind_task(model.Task(f"o{n}", wcet=8, bcet=8, scheduling_parameter=100))
        other.in_event_model = model.PJdEventModel(P=10**9, J=0)
    paths = []
    for place, (frame, period, start, end) in enumerate(streams):
        step = 1 if end > start else -1
        way = [
            senders[n].bind_task(model.Task(f"s{place}n{n}", wcet=frame, bcet=frame, scheduling_parameter=place + 1))
            for n in range(start, end, step)
        ]
        way[0].in_event_model = model.PJdEventModel(P=period, J=0)
        for before, after in zip(way, way[1:]):
            before.link_dependent_task(after)
        paths.append(way)
    try:
        results = analysis.analyze_system(system)
    except analysis.NotSchedulableException:
        return None
    return [sum(int(results[task].wcrt) for task in way) for way in paths]


def main():
    options.init_pycpa(implicit=True)
    options.set_opt("propagation", "jitter")
    rng = random.Random(20)
    written = 0
    while written < int(sys.argv[1]):
        nodes, streams = drawn(rng)
        answers = responses(nodes, streams)
        if answers is None:
            continue
        written += 1
        text = " ".join(",".join(map(str, stream)) for stream in streams)
        print(f"{nodes};{text};{' '.join(map(str, answers))}")


main()
