"""Ranks: the order in which waiting jobs start, and which of them are sticky.

Sticky jobs have ranks of their own. So one index of waiting jobs leads to either kind without
stepping over the other: a thousand jobs that wait for an instance stand in nobody's way.
"""

from queues.logic.options import PRIORITIES

STICKY = 10  # more than there are priorities
RANKS = sorted(-priority for priority in PRIORITIES)
STICKY_RANKS = [rank + STICKY for rank in RANKS]


def rank_of(priority: int, sticky: bool) -> int:
    return STICKY - priority if sticky else -priority


def shared_rank(rank: int) -> int:
    """The rank that the job would have if it were not sticky."""
    return rank - STICKY if rank > RANKS[-1] else rank
