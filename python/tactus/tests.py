"""Schedulability tests by name.

A name is a policy and a test as the literature calls it; :func:`names` lists them.

======================================  ==================================================================================
``rm/liu-layland``, ``rm/hyperbolic``,  one core, rate-monotonic, deadlines not before periods: sufficient
``rm/harmonic-chains``
``fp/response``                         one core, fixed priorities: exact
``edf/demand``, ``edf/response``        one core, EDF: exact
``np-fp/response``,                     one core, without preemption: exact
``np-edf/response``
``global-edf/gfb`` ``bak`` ``bcl``      several cores, global EDF: sufficient; ``any`` accepts what one of them accepts
``bcl-iterative`` ``rta`` ``bar``
``load`` ``ff-dbf`` ``any``
``global-edf/tardiness``                accepts where tardiness is bounded; responses are deadline + tardiness bound
``global-fp/bcl``,                      several cores, global fixed priorities: sufficient
``global-fp/response``
``partitioned-edf/ffd`` ``bfd``         decreasing utilisation, first, best, worst or next fit, each core by the exact test;
``wfd`` ``nfd``, ``partitioned-dm/…``   tasks that have a core keep it
``semi-partitioned-edf/cd-split``       first fit, and what fits nowhere is split (C=D)
======================================  ==================================================================================

Fixed priorities are the tasks' own where every task has one, else deadline-monotonic. An exact test that would need too long
says no. The papers and assumptions are in the book, `crates/analysis/README.md`.
"""

from ._native import accepts, accepts_all, partition, responses
from ._native import test_names as names

__all__ = ["accepts", "accepts_all", "names", "partition", "responses"]
