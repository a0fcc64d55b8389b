"""Schedulability tests, generators and reservations give what the literature and the analysis library's own tests have."""

import itertools
from pathlib import Path
from typing import Any, Callable, Literal

import pytest

import tactus
from tactus import generate, mixed, reservations, tests


def textbook() -> tactus.TaskSet:
    # Burns and Wellings: response times 3, 6 and 20.
    tasks = [tactus.Task("3 ms", "7 ms"), tactus.Task("3 ms", "12 ms"), tactus.Task("5 ms", "20 ms")]
    return tactus.TaskSet(tasks)


def test_response_times_of_the_textbook() -> None:
    assert tests.responses("fp/response", textbook()) == [3_000_000, 6_000_000, 20_000_000]
    assert tests.accepts("fp/response", textbook())
    assert not tests.accepts("rm/liu-layland", textbook())


def test_priorities_of_their_own_go_before_deadlines() -> None:
    tasks = [tactus.Task("3 ms", "7 ms", priority=1), tactus.Task("3 ms", "12 ms", priority=2)]
    assert tests.responses("fp/response", tactus.TaskSet(tasks)) == [6_000_000, 3_000_000]


def test_every_test_says_yes_to_a_light_set_and_no_to_an_overloaded_one() -> None:
    light = tactus.TaskSet([tactus.Task("1 ms", "10 ms"), tactus.Task("1 ms", "11 ms")])
    heavy = tactus.TaskSet([tactus.Task("9 ms", "10 ms")] * 5)
    for name in tests.names():
        one = name.split("/")[0] in ("rm", "fp", "edf", "np-fp", "np-edf")
        cores = 1 if one else 2
        assert tests.accepts(name, light, cores), name
        assert not tests.accepts(name, heavy, cores), name


def test_a_sufficient_test_never_accepts_what_the_simulator_refutes() -> None:
    names = [name for name in tests.names() if name.startswith("global-edf/") and not name.endswith("tardiness")]
    sets = [generate.task_set("uni-medium", "short", cap, seed=5, number=n) for cap in (1.2, 1.6, 1.9) for n in range(8)]
    verdicts = tests.accepts_all(names, sets, cores=2)
    accepted = 0
    for place, tasks in enumerate(sets):
        if any(verdicts[name][place] for name in names):
            accepted += 1
            run = tasks.system(cores=2, policy="global-edf", duration="200 ms").simulate()
            assert run.summary["total"]["missed"] == 0, tasks
    assert accepted >= 5


def test_many_sets_at_once_are_judged_as_one_by_one() -> None:
    sets = [generate.task_set("bimo-medium", "long", 3.0, seed=1, number=n) for n in range(20)]
    names = ["global-edf/gfb", "global-edf/any", "partitioned-edf/ffd", "global-fp/response"]
    table = tests.accepts_all(names, sets, cores=4, threads=3)
    assert table.columns == ["set", "tasks", "utilisation", *names]
    for name in names:
        assert table[name] == [tests.accepts(name, tasks, 4) for tasks in sets]


def test_a_partition_makes_a_system_that_the_check_accepts() -> None:
    tasks = generate.task_set("uni-medium", "moderate", 1.7, seed=3)
    cores = tests.partition("partitioned-edf/ffd", tasks, 2)
    assert cores is not None and set(cores) == {0, 1}
    system = tasks.bound_to(cores).system(2, "partitioned-edf", "1 s")
    assert system.check("none").accepted


def test_generators_hit_their_sum_and_depend_on_seed_and_number_alone() -> None:
    methods: tuple[Literal["uunifast-discard"], Literal["randfixedsum"], Literal["drs"]]
    methods = ("uunifast-discard", "randfixedsum", "drs")
    for method in methods:
        drawn = generate.utilisations(method, 10, 3.0, seed=7, number=2)
        assert sum(drawn) == pytest.approx(3.0)
        assert drawn == generate.utilisations(method, 10, 3.0, seed=7, number=2)
        assert drawn != generate.utilisations(method, 10, 3.0, seed=7, number=3)
    tasks = generate.with_periods(generate.utilisations("drs", 10, 3.0, 7), "10 ms", "100 ms", 7, step="1 ms")
    assert len(tasks) == 10 and tasks.utilisation == pytest.approx(3.0, abs=1e-5)
    assert all(task.period % 1_000_000 == 0 and 10**7 <= task.period <= 10**8 for task in tasks)
    within = generate.utilisations_within([(0.1, 0.2), (0.3, 0.9)], 0.8, 1)
    assert sum(within) == pytest.approx(0.8) and 0.1 <= within[0] <= 0.2
    assert len(generate.juniper()) == 8
    assert {level for level, _ in generate.mc2_overheads(20, 4, 1, seed=2)} == {"A", "B", "C"}


@pytest.mark.parametrize("pair", list(itertools.product(generate.utilisation_names(), generate.period_names())))
def test_every_distribution_can_be_drawn(pair: tuple[str, str]) -> None:
    tasks = generate.task_set(*pair, cap=4.0, seed=1)
    assert 3.8 <= tasks.utilisation <= 4.0


def test_the_least_budget_passes_and_one_nanosecond_less_does_not() -> None:
    tasks = tactus.TaskSet([tactus.Task("1 ms", "20 ms"), tactus.Task("2 ms", "30 ms")])
    budget = reservations.budget(tasks, "periodic", "5 ms")
    assert budget is not None

    def fits(q: int) -> bool:
        bounds = reservations.responses(tasks, "periodic", q, "5 ms")
        return all(bound is not None and bound <= task.deadline for bound, task in zip(bounds, tasks))

    assert fits(budget) and not fits(budget - 1)
    design = reservations.design(tasks, "periodic", overhead="10 us")
    assert design is not None and design[2] < 1


def test_two_levels_of_criticality() -> None:
    tasks = [mixed.Dual("1 ms", "10 ms", high="2 ms"), mixed.Dual("3 ms", "20 ms"), mixed.Dual("4 ms", "40 ms", high="9 ms")]
    low = [low for low, _ in mixed.responses("amc-rtb", tasks)]
    assert low == [1_000_000, 4_000_000, 8_000_000]
    assert mixed.priorities("amc-rtb", tasks) is not None
    assert mixed.edf_vd(tasks) is not None
    rtb = mixed.responses("amc-rtb", tasks)[2][1]
    most = mixed.responses("amc-max", tasks)[2][1]
    assert rtb is not None and most is not None and most <= rtb
    assert mixed.priorities("smc", [mixed.Dual("9 ms", "10 ms"), mixed.Dual("9 ms", "10 ms")]) is None


def test_what_cannot_be_used_is_said_with_a_way_out() -> None:
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: tactus.Task("5", "10 ms"), "execution \"5\""),
        (lambda: tactus.Task(0, 5), "execution is 0; give more than nothing"),
        (lambda: tactus.Task(1, "2 days"), "period"),
        (lambda: tactus.TaskSet([]), "one task at least"),
        (lambda: tests.accepts("gfb", textbook()), "there is no test \"gfb\"; choose one of rm/liu-layland"),
        (lambda: tests.accepts("fp/response", textbook(), 2), "fp/response is a test of one core"),
        (lambda: tests.responses("global-edf/gfb", textbook(), 2), "gives no response times"),
        (lambda: tests.partition("fp/response", textbook(), 1), "binds tasks to no cores"),
        (lambda: generate.utilisations("drs", 2, 3.0, 1), "finds no 2 values"),
        (lambda: generate.task_set("uni-light", "short", -1.0, 1), "the cap is -1"),
        (lambda: reservations.budget(textbook(), "cbs", "5 ms"), "there is no kind of server \"cbs\""),
        (lambda: textbook().system(9, "global-edf", "1 s"), "cores"),
        (lambda: textbook().system(1, "best", "1 s"), "best"),
        (lambda: textbook().to_text("yaml"), "there is no format \"yaml\""),  # type: ignore[arg-type]
        (lambda: tactus.System.read("/nowhere.toml"), "/nowhere.toml"),
        (lambda: tactus.Run.read("/nowhere"), "run.json"),
        (lambda: tactus.Trace.read(Path(__file__)), "test_analysis.py"),
    ]
    for call, said in calls:
        with pytest.raises(tactus.InputError) as error:
            call()
        assert said in str(error.value), str(error.value)
