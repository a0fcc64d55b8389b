"""Tasks inside a server of one core.

Kinds of servers are ``periodic``, ``polling``, ``deferrable``, ``sporadic`` and ``cbs-hard``; tasks inside are ordered by
``edf`` or ``fp``. The budget is taken to be served within each period at the latest.
"""

from ._native import server_budget as budget
from ._native import server_design as design
from ._native import server_responses as responses

__all__ = ["budget", "design", "responses"]
