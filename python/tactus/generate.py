"""Task sets drawn at random as the literature draws them: the same for a seed for ever, on every computer.

``seed`` and ``number`` choose a stream: ``number`` counts the sets of one experiment, so that any of them can be drawn
without the others.

- :func:`task_set`: utilisations from a named distribution until a cap is reached (:func:`utilisation_names`,
  :func:`period_names`; Brandenburg's 18 and their relatives).
- :func:`utilisations`: n utilisations with a given sum (``uunifast-discard``, ``randfixedsum``, ``drs``);
  :func:`utilisations_within`: each between limits of its own (DRS); :func:`with_periods`: tasks from them.
- :func:`juniper`, :func:`mc2_overheads`: sets of published experiments.
"""

from ._native import draw_periods as with_periods
from ._native import draw_set as task_set
from ._native import draw_utilisations as utilisations
from ._native import draw_within as utilisations_within
from ._native import juniper, mc2_overheads, period_names, utilisation_names

__all__ = [
    "juniper",
    "mc2_overheads",
    "period_names",
    "task_set",
    "utilisation_names",
    "utilisations",
    "utilisations_within",
    "with_periods",
]
