"""Whole systems: read, checked, simulated, kept and read again."""

from pathlib import Path
from typing import Any

import pytest

import tactus

TEXT = """
[system]
name = "pair"
cores = 1
duration = "100 ms"

[policy]
kind = "partitioned-edf"

[[task]]
name = "fast"
period = "5 ms"
execution = "2 ms"

[[task]]
name = "slow"
period = "7 ms"
execution = "4 ms"
actual = { min = "1 ms", max = "4 ms" }
"""

OVERLOAD = TEXT.replace('execution = "2 ms"', 'execution = "4 ms"')


def test_a_check_tells_bounds_and_margins() -> None:
    check = tactus.System.parse(TEXT).check("none")
    assert check.accepted and check.findings == []
    tasks = check.tasks()
    assert tasks["bound"] == ["response", "response"]
    assert tasks["bound_ns"] == [4_000_000, 6_000_000]
    assert tasks["slack_ns"] == [1_000_000, 1_000_000]
    assert all(growth is not None for growth in tasks["may_grow_ns"])
    assert tactus.System.parse(TEXT).check("none", effort=0).tasks()["may_grow_ns"] == [None, None]
    measured = tactus.System.parse(TEXT).check("measured")
    assert measured.tasks()["bound_ns"][0] is None or measured.tasks()["bound_ns"][0] > 4_000_000
    assert check.cores()["core"] == [0]


def test_a_check_that_fails_says_what_and_how_to_mend_it() -> None:
    check = tactus.System.parse(OVERLOAD).check("none")
    assert not check.accepted
    finding = check.findings[0]
    assert finding.what and finding.remedy and str(finding) in str(check) or finding.what in str(check)


def test_a_simulation_keeps_what_the_check_promised() -> None:
    run = tactus.System.parse(TEXT).simulate()
    assert run.kept and run.accepted
    assert run.summary["total"]["released"] == 35 and run.summary["total"]["missed"] == 0
    jobs = run.jobs()
    assert len(jobs) == 35
    bounds = {"fast": 4_000_000, "slow": 6_000_000}
    for task, response in zip(jobs["task"], jobs["response_ns"]):
        assert response is None or response <= bounds[task]
    assert run.tasks()["name"] == ["fast", "slow"]


def test_the_schedule_covers_the_whole_run_without_gaps() -> None:
    schedule = tactus.System.parse(TEXT).simulate().schedule()
    ends = 0
    for start, end, kind in zip(schedule["start_ns"], schedule["end_ns"], schedule["kind"]):
        if kind != "ghost":
            assert start == ends
            ends = end
    assert ends == 100_000_000


def test_seed_duration_and_costs_change_a_simulation_and_nothing_else_does() -> None:
    system = tactus.System.parse(TEXT)

    def records(run: tactus.Run) -> dict[str, list[Any]]:
        return run.records().to_dict()

    same = records(system.simulate())
    assert same == records(system.simulate())
    assert same != records(system.simulate(seed=2))
    assert same != records(system.simulate(costs="measured"))
    assert len(system.simulate("50 ms").jobs()) < 35


def test_levels_are_for_systems_that_have_them() -> None:
    with pytest.raises(tactus.InputError, match="knows no levels"):
        tactus.System.parse(TEXT).simulate(at_level="B")


def test_a_run_that_was_saved_is_read_again(tmp_path: Path) -> None:
    run = tactus.System.parse(TEXT).simulate()
    run.save(tmp_path)
    again = tactus.Run.read(tmp_path)
    assert again.summary == run.summary
    assert again.jobs().to_dict() == run.jobs().to_dict()
    trace = tactus.Trace.read(tmp_path / "trace.bin")
    assert len(trace) == len(run.trace) and trace.records()["task"][0] is None
    assert {path.name for path in tmp_path.iterdir()} == {
        "trace.bin",
        "run.json",
        "summary.json",
        "trace.pftrace",
        "report.html",
    }


def test_a_system_is_written_and_reads_back(tmp_path: Path) -> None:
    system = tactus.System.parse(TEXT)
    again = tactus.System.parse(system.to_toml())
    assert again.tasks().to_dict() == system.tasks().to_dict()
    assert again.simulate().records().to_dict() == system.simulate().records().to_dict()
    tasks = system.task_set()
    assert [task.name for task in tasks] == ["fast", "slow"] and tasks.policy == "partitioned-edf"


def test_faults_of_a_file_are_told_all_at_once() -> None:
    broken = TEXT.replace('period = "5 ms"', 'period = "5"').replace("cores = 1", "cores = 99")
    with pytest.raises(tactus.InputError) as error:
        tactus.System.parse(broken, "pair.toml")
    assert "pair.toml:" in str(error.value) and len(str(error.value).splitlines()) == 2
