"""Types of the compiled module."""

import os
from typing import Any, Iterator, Literal, Optional, Sequence, Union, final

_Time = Union[int, str]
"""Nanoseconds, or a text with a unit: ``"5 ms"``."""
_Path = Union[str, os.PathLike[str]]
_Format = Literal["system", "schedcat", "simso", "rt-app", "csv"]

__version__: str

class InputError(ValueError):
    """What was given cannot be used; the message says what to change, and where."""

@final
class Table:
    """A table. polars, pandas, pyarrow and everything else that speaks Arrow takes it as it is, without a copy.

    ``len(table)`` is the number of rows, ``table["name"]`` a column as a list.
    """

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def __len__(self) -> int: ...
    def __getitem__(self, column: str, /) -> list[Any]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def to_dict(self) -> dict[str, list[Any]]:
        """Every column as a list, by name."""

    def to_polars(self) -> Any:
        """As a ``polars.DataFrame``; polars has to be installed."""

    def to_arrow(self) -> Any:
        """As a ``pyarrow.Table``; pyarrow has to be installed."""

    def to_pandas(self) -> Any:
        """As a ``pandas.DataFrame``; pandas and pyarrow have to be installed."""

@final
class Task:
    """A sporadic or periodic task.

    Arguments: the longest execution time of a job, the least time between releases, the relative deadline (the period if not
    given); the first release, the longest time from arrival to release, the core that it is bound to, its priority (the larger the
    more urgent), and the bytes that a job touches.
    """

    def __new__(
        cls,
        execution: _Time,
        period: _Time,
        deadline: Optional[_Time] = None,
        *,
        name: str = "",
        offset: Optional[_Time] = None,
        jitter: Optional[_Time] = None,
        core: Optional[int] = None,
        priority: Optional[int] = None,
        memory: int = 0,
    ) -> Task: ...
    @property
    def name(self) -> str: ...
    @property
    def execution(self) -> int:
        """Nanoseconds."""

    @property
    def period(self) -> int:
        """Nanoseconds."""

    @property
    def deadline(self) -> int:
        """Nanoseconds."""

    @property
    def offset(self) -> int:
        """Nanoseconds."""

    @property
    def jitter(self) -> int:
        """Nanoseconds."""

    @property
    def core(self) -> Optional[int]: ...
    @property
    def priority(self) -> Optional[int]: ...
    @property
    def memory(self) -> int:
        """Bytes."""

    @property
    def utilisation(self) -> float:
        """Execution time over period."""

@final
class TaskSet:
    """Tasks, and as much of the system around them as is known. A sequence of :class:`Task`."""

    def __new__(
        cls,
        tasks: Sequence[Task],
        *,
        name: str = "tasks",
        cores: Optional[int] = None,
        policy: Optional[str] = None,
        duration: Optional[_Time] = None,
    ) -> TaskSet: ...
    @staticmethod
    def read(path: _Path, format: Optional[_Format] = None, *, unit: Optional[_Time] = None) -> TaskSet:
        """Reads the only set of a file.

        The format is told by the file's name or, for XML, by its text. ``unit`` is the length of one unit of a plain number in
        SchedCAT's files and in CSV columns that name no unit: ``"1 us"`` if not given.
        """

    @staticmethod
    def read_all(path: _Path, format: Optional[_Format] = None, *, unit: Optional[_Time] = None) -> list[TaskSet]:
        """Reads every set of a file: a SchedCAT test point, a CSV file with a column ``set``."""

    def write(self, path: _Path, format: Optional[_Format] = None, *, unit: Optional[_Time] = None) -> list[str]:
        """Writes the set. Gives back what the format could not hold, one sentence each."""

    def to_text(self, format: _Format, *, unit: Optional[_Time] = None) -> str:
        """The text that :meth:`write` writes."""

    def system(
        self,
        cores: Optional[int] = None,
        policy: Optional[str] = None,
        duration: Optional[_Time] = None,
        *,
        name: Optional[str] = None,
    ) -> System:
        """The set as a system that can be checked and simulated. What is not given is the set's own.

        Policies are named as in system files: ``"global-edf"``, ``"partitioned-rm"`` …
        """

    def bound_to(self, cores: Sequence[int]) -> TaskSet:
        """The same tasks, each bound to the core given for it."""

    @property
    def name(self) -> str: ...
    @property
    def cores(self) -> Optional[int]: ...
    @property
    def policy(self) -> Optional[str]: ...
    @property
    def duration(self) -> Optional[int]:
        """Nanoseconds."""

    @property
    def notes(self) -> list[str]:
        """What a person should know about how the file was taken."""

    @property
    def utilisation(self) -> float:
        """The sum over all tasks."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: int, /) -> Task: ...
    def __iter__(self) -> Iterator[Task]: ...
    def table(self) -> Table:
        """A row for each task."""

@final
class System:
    """A whole system: tasks, policy, machine."""

    @staticmethod
    def read(path: _Path) -> System:
        """Reads a system file (``.toml``) or an rt-app file (``.json``)."""

    @staticmethod
    def parse(text: str, source: Optional[_Path] = None) -> System:
        """Reads the text of a system file. Files that it names are looked for beside ``source``, the file that messages name."""

    def to_toml(self) -> str:
        """The text of a system file that reads back as this system."""

    def task_set(self) -> TaskSet:
        """The tasks alone, each with the execution time at its own level."""

    @property
    def name(self) -> str: ...
    @property
    def cores(self) -> int: ...
    @property
    def policy(self) -> str:
        """As system files name it."""

    @property
    def duration(self) -> int:
        """Nanoseconds."""

    @property
    def seed(self) -> int: ...
    @property
    def notes(self) -> list[str]:
        """What a person should know about how the file was taken."""

    def __len__(self) -> int:
        """The number of tasks."""

    def tasks(self) -> Table:
        """A row for each task."""

    def check(self, costs: str = "measured", *, effort: Optional[int] = None) -> Check:
        """What can be promised.

        ``costs`` of the system's own work: ``"measured"`` on the emulated machine, ``"none"``, or a file of costs. ``effort``: how many
        terms the search for the margins of execution times may evaluate; as many as take some tens of milliseconds if not
        given, 0 to leave it out.
        """

    def simulate(
        self,
        duration: Optional[_Time] = None,
        *,
        seed: Optional[int] = None,
        at_level: Optional[Literal["A", "B", "C", "D"]] = None,
        costs: str = "none",
    ) -> Run:
        """The schedule that the policy makes, held against what the check promised.

        ``at_level`` makes every job of an MC² system take exactly its time at that level. ``costs`` as for :meth:`check`; with
        ``"none"`` the system's own work takes no time.
        """

@final
class Check:
    """What a check found. ``str(check)`` is a table for people."""

    @property
    def accepted(self) -> bool:
        """Whether every promise that the policy makes can be kept."""

    @property
    def summary(self) -> str: ...
    @property
    def findings(self) -> list[Finding]:
        """What fails, and what to do about it; empty if and only if accepted."""

    def tasks(self) -> Table:
        """A row for each task: its bound, which test gave it, by how much its execution time may grow or must shrink."""

    def cores(self) -> Table:
        """A row for each core that tasks are bound to: what is asked of it as assumed at each level."""

@final
class Finding:
    """Something that fails."""

    @property
    def task(self) -> Optional[str]:
        """The task concerned, if one can be named."""

    @property
    def core(self) -> Optional[int]:
        """The core concerned, if one can be named."""

    @property
    def line(self) -> int:
        """The line of the system file to look at; 0 if none."""

    @property
    def what(self) -> str:
        """Who fails and what binds it, with value and limit."""

    @property
    def remedy(self) -> str:
        """What would mend it."""

@final
class Trace:
    """The records of a run. ``len(trace)`` is their number."""

    @staticmethod
    def read(path: _Path) -> Trace:
        """Reads a ``trace.bin``. It holds numbers of tasks, not their names: see :meth:`Run.read`."""

    def write(self, path: _Path) -> None:
        """Writes a ``trace.bin``."""

    @property
    def records_per_core(self) -> list[int]: ...
    @property
    def dropped(self) -> list[int]:
        """How many records did not fit, on each core."""

    def __len__(self) -> int: ...
    def records(self) -> Table:
        """A row for each record, core after core."""

    def jobs(self) -> Table:
        """A row for each job, in the order in which their releases were noticed."""

    def schedule(self) -> Table:
        """A row for each stretch of time of each core: what it did from when to when."""

@final
class Run:
    """A run, simulated or on the machine, held against what was promised for it."""

    @staticmethod
    def read(folder: _Path) -> Run:
        """Reads a folder of results, as ``./tactus run``, ``./tactus simulate`` and :meth:`save` leave it."""

    def save(self, folder: _Path) -> None:
        """Writes ``trace.bin``, ``run.json``, ``summary.json``, ``trace.pftrace`` and ``report.html`` into the folder."""

    @property
    def kept(self) -> bool:
        """Whether every promise was kept, and no component was lost."""

    @property
    def accepted(self) -> bool:
        """Whether analysis accepted the system, so that its bounds are promises."""

    @property
    def summary(self) -> dict[str, Any]:
        """Every figure of ``summary.json``."""

    @property
    def trace(self) -> Trace: ...
    def tasks(self) -> Table:
        """A row for each task: its jobs, responses and tardiness beside what was promised."""

    def records(self) -> Table:
        """See :meth:`Trace.records`."""

    def jobs(self) -> Table:
        """See :meth:`Trace.jobs`."""

    def schedule(self) -> Table:
        """See :meth:`Trace.schedule`."""

@final
class Dual:
    """A task with two criticality levels.

    Arguments: C(LO), the period, the relative deadline (the period if not given), and C(HI), which makes it critical.
    """

    def __new__(cls, low: _Time, period: _Time, deadline: Optional[_Time] = None, *, high: Optional[_Time] = None) -> Dual: ...
    @property
    def low(self) -> int: ...
    @property
    def high(self) -> Optional[int]: ...
    @property
    def period(self) -> int: ...
    @property
    def deadline(self) -> int: ...
    @property
    def critical(self) -> bool: ...

def test_names() -> list[str]:
    """The names of all tests."""

def accepts(test: str, tasks: TaskSet, cores: int = 1) -> bool:
    """Whether the test shows that every deadline is met; for ``global-edf/tardiness``, that tardiness is bounded."""

def responses(test: str, tasks: TaskSet, cores: int = 1) -> list[Optional[int]]:
    """The bound on the response time of each task in nanoseconds, None where there is none.

    Only for tests that give response times: those that are called ``…/response``, ``global-edf/tardiness``.
    """

def partition(test: str, tasks: TaskSet, cores: int) -> Optional[list[int]]:
    """The core of each task by a heuristic such as ``partitioned-edf/ffd``, None if it finds no place for one."""

def accepts_all(
    tests: Sequence[str], sets: Sequence[TaskSet], cores: int = 1, threads: Optional[int] = None
) -> Table:
    """Every test on every set, on all processors of the computer.

    A row for each set, with its name, number of tasks and utilisation, and a column for each test.
    """

def mixed_responses(
    test: Literal["amc-rtb", "amc-max", "smc"], tasks: Sequence[Dual]
) -> list[tuple[Optional[int], Optional[int]]]:
    """The response bounds of each task in LO and HI mode in nanoseconds, under fixed priorities, the most urgent task first."""

def mixed_priorities(test: Literal["amc-rtb", "amc-max", "smc"], tasks: Sequence[Dual]) -> Optional[list[int]]:
    """An order in which all promises hold, the most urgent task first, by Audsley's search; None if it finds none."""

def edf_vd_deadlines(tasks: Sequence[Dual]) -> Optional[tuple[list[int], bool]]:
    """The relative deadlines of the LO mode under EDF-VD, and whether plain EDF does; None if the set is not accepted."""

def server_responses(
    tasks: TaskSet, kind: str, budget: _Time, period: _Time, order: Literal["edf", "fp"] = "edf"
) -> list[Optional[int]]:
    """The response bound of each task inside the server, None where there is none."""

def server_budget(tasks: TaskSet, kind: str, period: _Time, order: Literal["edf", "fp"] = "edf") -> Optional[int]:
    """The least budget per period with which every deadline is met, None if no budget does."""

def server_design(
    tasks: TaskSet,
    kind: str,
    order: Literal["edf", "fp"] = "edf",
    periods: Optional[Sequence[_Time]] = None,
    overhead: Optional[_Time] = None,
) -> Optional[tuple[int, int, float]]:
    """Budget, period and bandwidth of the server that needs least bandwidth, None if there is none.

    ``overhead`` is the system's own work per period of the server. Without ``periods``, 64 periods up to the shortest deadline are
    tried.
    """

def utilisation_names() -> list[str]:
    """The names of distributions of utilisations."""

def period_names() -> list[str]:
    """The names of distributions of periods."""

def draw_set(
    utilisations: str, periods: str, cap: float, seed: int, number: int = 0, cores: Optional[int] = None
) -> TaskSet:
    """One set: tasks are added until their utilisations sum up to the cap or little less."""

def draw_utilisations(
    method: Literal["uunifast-discard", "randfixedsum", "drs"],
    n: int,
    total: float,
    seed: int,
    number: int = 0,
    low: float = 0.0,
    high: float = 1.0,
) -> list[float]:
    """n utilisations between ``low`` and ``high`` with this sum, uniform over all such."""

def draw_within(limits: Sequence[tuple[float, float]], total: float, seed: int, number: int = 0) -> list[float]:
    """A value for each pair of limits, with this sum, uniform over all such (DRS)."""

def draw_periods(
    utilisations: Sequence[float],
    shortest: _Time,
    longest: _Time,
    seed: int,
    number: int = 0,
    step: Optional[_Time] = None,
    cores: Optional[int] = None,
) -> TaskSet:
    """Tasks with these utilisations and log-uniform periods that are multiples of ``step`` (1 µs if not given)."""

def juniper() -> list[tuple[int, Task]]:
    """The applications of the JUNIPER report, each with its platform: 1, 2, or 0 for the background."""

def mc2_overheads(n: int, cores: int, capacities: int, seed: int, number: int = 0) -> list[tuple[str, Task]]:
    """A set of the overhead experiment of MC² (RTAS 2012), each task with its level; ``capacities`` is 0, 1 or 2."""
