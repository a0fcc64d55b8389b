"""Tactus: schedulability tests, task-set generators, simulation and traces of real-time systems.

Three ways in:

- :class:`TaskSet`: tasks as the tests take them. Read them from a file (SchedCAT, SimSo, rt-app, CSV, system file), make
  them with :class:`Task`, or draw them (:mod:`tactus.generate`); ask :mod:`tactus.tests` whether they can be scheduled.
- :class:`System`: a whole system from a system file, or from a task set by :meth:`TaskSet.system`. :meth:`System.check` tells
  what can be promised, :meth:`System.simulate` works out the schedule.
- :class:`Run` and :class:`Trace`: what happened, in a simulation or on the machine, as tables.

Times are whole nanoseconds. Where a time is asked for, a text with a unit (``"5 ms"``) does as well. What cannot be used
raises :class:`InputError`, whose message says what to change.

A :class:`Table` goes to polars, pandas, pyarrow and everything else that speaks Arrow: ``polars.DataFrame(table)``,
``table.to_pandas()``, ``pyarrow.table(table)``.
"""

from . import generate, mixed, reservations, tests
from ._native import (
    Check,
    Finding,
    InputError,
    Run,
    System,
    Table,
    Task,
    TaskSet,
    Trace,
    __version__,
)

__all__ = [
    "Check",
    "Finding",
    "InputError",
    "Run",
    "System",
    "Table",
    "Task",
    "TaskSet",
    "Trace",
    "__version__",
    "generate",
    "mixed",
    "reservations",
    "tests",
]
