"""Files of other tools, held against the tools themselves: SimSo where it is installed, SchedCAT where
``SCHEDCAT`` names a checkout, which ``2to3 -w -n schedcat/util schedcat/model`` has made fit for Python 3."""

import contextlib
import fractions
import io
import math
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import tactus
from tactus import generate


def drawn(seed: int, n: int, total: float) -> tactus.TaskSet:
    """Odd periods: no two deadlines fall together, so that no tie has to be broken."""
    return generate.with_periods(generate.utilisations("randfixedsum", n, total, seed), "3 ms", "40 ms", seed, step="1 ns")


def ends_in_simso(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Release and end of every job that ended, in cycles."""
    from simso.configuration import Configuration
    from simso.core import Model
    from simso.core.Scheduler import SchedulerInfo
    from simso.schedulers import Fixed_PEDF
    from simso.utils import PartitionedScheduler

    # Version 0.8.5 names the scheduler of each core without its module, and so does not start.
    Fixed_PEDF.Fixed_PEDF.init = lambda self: PartitionedScheduler.init(self, SchedulerInfo("simso.schedulers.EDF_mono"))
    configuration = Configuration(str(path))
    configuration.check_all()
    model: Any = Model(configuration)
    # Its EDF prints every decision.
    with contextlib.redirect_stdout(io.StringIO()):
        model.run_model()
    cycles = configuration.cycles_per_ms
    return {
        task.name: [(round(job.activation_date * cycles), job.end_date) for job in task.jobs if job.end_date is not None]
        for task in model.task_list
    }


def ends_here(run: tactus.Run) -> dict[str, list[tuple[int, int]]]:
    ends: dict[str, list[tuple[int, int]]] = {}
    jobs = run.jobs()
    for task, release, end in zip(jobs["task"], jobs["release_ns"], jobs["completed_ns"]):
        ends.setdefault(task, [])
        if end is not None:
            ends[task].append((release, end))
    return ends


def before_the_end(ends: dict[str, list[tuple[int, int]]]) -> dict[str, list[tuple[int, int]]]:
    return {task: [job for job in jobs if job[1] < 500_000_000] for task, jobs in ends.items()}


@pytest.mark.parametrize(
    ("policy", "cores", "n", "total"),
    [
        ("partitioned-edf", 1, 6, 0.9),
        ("partitioned-rm", 1, 6, 0.7),
        ("partitioned-edf", 2, 8, 1.5),
        ("global-edf", 2, 7, 1.6),
        ("global-edf", 4, 14, 3.0),
        ("global-rm", 2, 7, 1.3),
    ],
)
def test_simso_reads_what_we_write_and_ends_every_job_when_we_do(
    tmp_path: Path, policy: str, cores: int, n: int, total: float
) -> None:
    pytest.importorskip("simso")
    compared = 0
    for seed in range(5):
        tasks = drawn(seed, n, total)
        if policy == "partitioned-edf" and cores > 1:
            placed = tactus.tests.partition("partitioned-edf/ffd", tasks, cores)
            if placed is None:
                continue
            tasks = tasks.bound_to(placed)
        if cores == 1:
            tasks = tasks.bound_to([0] * n)
        tasks = tactus.TaskSet(list(tasks), cores=cores, policy=policy, duration="500 ms")
        path = tmp_path / f"{seed}.xml"
        tasks.write(path, "simso")
        again = tactus.TaskSet.read(path)
        assert [(t.name, t.execution, t.period, t.deadline) for t in again] == [
            (t.name, t.execution, t.period, t.deadline) for t in tasks
        ]
        assert (again.cores, again.policy, again.duration) == (cores, policy, 500_000_000)
        theirs = ends_in_simso(path)
        ours = ends_here(tasks.system().simulate())
        # A job of SimSo's that ends with the simulation itself may or may not count.
        assert before_the_end(theirs) == before_the_end(ours), (policy, seed)
        compared += sum(len(jobs) for jobs in theirs.values())
    assert compared > 300


def test_what_simso_saves_is_read_as_it_was(tmp_path: Path) -> None:
    pytest.importorskip("simso")
    from simso.configuration import Configuration

    configuration: Any = Configuration()
    configuration.duration = 420 * configuration.cycles_per_ms
    configuration.add_task(name="T1", identifier=1, period=7, activation_date=0.25, wcet=3, deadline=7)
    configuration.add_task(name="T2", identifier=2, period=12.5, activation_date=0, wcet=0.29, deadline=12)
    configuration.add_processor(name="CPU 1", identifier=1)
    configuration.add_processor(name="CPU 2", identifier=2)
    configuration.scheduler_info.clas = "simso.schedulers.RM"
    path = tmp_path / "saved.xml"
    configuration.save(str(path))
    tasks = tactus.TaskSet.read(path)
    assert (tasks.cores, tasks.policy, tasks.duration) == (2, "global-rm", 420_000_000)
    found = [(t.name, t.execution, t.period, t.deadline, t.offset) for t in tasks]
    assert found == [("T1", 3_000_000, 7_000_000, 7_000_000, 250_000), ("T2", 290_000, 12_500_000, 12_000_000, 0)]


@pytest.fixture
def schedcat(monkeypatch: pytest.MonkeyPatch) -> Any:
    checkout = os.environ.get("SCHEDCAT")
    if checkout is None:
        pytest.skip("SCHEDCAT names no checkout of github.com/brandenburg/schedcat, translated by 2to3")
    monkeypatch.syspath_prepend(checkout)
    # It hangs its tasks onto elements of XML, which only the ElementTree that is written in Python allows.
    monkeypatch.setitem(sys.modules, "_elementtree", None)
    monkeypatch.delitem(sys.modules, "xml.etree.ElementTree", raising=False)
    # Where Python had it when SchedCAT was written.
    fractions.__dict__.setdefault("gcd", math.gcd)
    import schedcat.model.serialize as serialize
    import schedcat.model.tasks as model

    return Path(checkout), serialize, model


def test_schedcat_reads_what_we_write(tmp_path: Path, schedcat: Any) -> None:
    _, serialize, _ = schedcat
    for number in range(50):
        tasks = generate.with_periods(
            generate.utilisations("drs", 20, 4.0, 3, number), "10 ms", "100 ms", 3, number, step="1 us"
        )
        tasks = tactus.TaskSet([tactus.Task(t.execution // 1000 * 1000 + 1000, t.period) for t in tasks])
        path = tmp_path / "x.xml"
        tasks.write(path, "schedcat")
        theirs = [(t.id, t.cost * 1000, t.period * 1000, t.deadline * 1000) for t in serialize.load(str(path))]
        assert theirs == [(n + 1, t.execution, t.period, t.deadline) for n, t in enumerate(tasks)]


def test_what_schedcat_writes_is_read_as_it_was(tmp_path: Path, schedcat: Any) -> None:
    _, serialize, model = schedcat
    sets = []
    for number in range(3):
        tasks = model.TaskSystem([model.SporadicTask(5 + number, 100), model.SporadicTask(7, 50, 40)])
        tasks.assign_ids()
        tasks[0].partition, tasks[1].wss = number, 12
        sets.append(tasks)
    path = tmp_path / "point.xml"
    serialize.write_testpoint(sets, {"ucap": 1.5}, str(path))
    read = tactus.TaskSet.read_all(path)
    assert [len(tasks) for tasks in read] == [2, 2, 2]
    for number, tasks in enumerate(read):
        found = [(t.execution, t.period, t.deadline, t.core, t.memory) for t in tasks]
        assert found == [((5 + number) * 1000, 100_000, 100_000, number, 0), (7_000, 50_000, 40_000, None, 12 << 10)]


def test_schedcats_own_examples_are_read_and_those_with_locks_refused(schedcat: Any) -> None:
    checkout, serialize, _ = schedcat
    for name in ("nolock_example_1", "nolock_example_2"):
        path = checkout / "example" / name
        ours = [(t.execution, t.period, t.deadline) for t in tactus.TaskSet.read(path)]
        assert ours == [(t.cost * 1000, t.period * 1000, t.deadline * 1000) for t in serialize.load(str(path))]
    for name in ("lock_example_1", "lock_example_2"):
        with pytest.raises(tactus.InputError, match="tasks share no locks here"):
            tactus.TaskSet.read(checkout / "example" / name)
