"""Ranks: the order in which waiting jobs start, and which of them are sticky.

Sticky jobs have ranks of their own, so that one index of waiting jobs leads to either kind without
stepping over the other. Paused jobs have ranks that no worker asks for. Callbacks start before
everything else.
"""

from queues.logic.options import PRIORITIES

STICKY = 10  # more than there are priorities
RANKS = sorted(-priority for priority in PRIORITIES)
CALLBACK = RANKS[0] - 1
SHARED_RANKS = [CALLBACK, *RANKS]  # of what any worker may run, in the order of starting
STICKY_RANKS = [rank + STICKY for rank in RANKS]
PAUSED = 40  # beyond the sticky ones


def rank_of(priority: int, sticky: bool) -> int:
    return STICKY - priority if sticky else -priority


def shared_rank(rank: int) -> int:
    """Return the rank that the job would have if it were neither sticky nor paused."""
    awake = rank - PAUSED if rank > STICKY_RANKS[-1] else rank
    return awake - STICKY if awake > RANKS[-1] else awake
