"""Two criticality levels on one core: AMC-rtb, AMC-max, SMC and EDF-VD.

:class:`Dual` is a task with C(LO) and, if it is critical, C(HI). :func:`responses` gives the bounds under fixed priorities, the
most urgent task first; :func:`priorities` finds an order in which all promises hold; :func:`edf_vd` the virtual deadlines.
"""

from ._native import Dual
from ._native import edf_vd_deadlines as edf_vd
from ._native import mixed_priorities as priorities
from ._native import mixed_responses as responses

__all__ = ["Dual", "edf_vd", "priorities", "responses"]
