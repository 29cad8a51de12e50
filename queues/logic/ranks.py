"""Ranks: the order of waiting jobs, and which are sticky, in line, in a flow, paused or blocked.

Sticky jobs have ranks of their own, so that one index of waiting jobs leads to either kind without
stepping over the other. Those that wait for the turn of their key, those that are paused, and those
that wait for other jobs have ranks that no worker asks for. Callbacks start before everything else.
A sticky job that has the turn and waits in a flow has the turn still.
"""

from queues.logic.options import PRIORITIES

STICKY = 10  # more than there are priorities
LINE = 20  # waits behind another job of its key
RANKS = sorted(-priority for priority in PRIORITIES)
CALLBACK = RANKS[0] - 1
SHARED_RANKS = [CALLBACK, *RANKS]  # of what any worker may run, in the order of starting
STICKY_RANKS = [rank + STICKY for rank in RANKS]  # of what a station may run
LINE_RANKS = [rank + LINE for rank in STICKY_RANKS]
PAUSED = 40  # beyond all others but flows
FLOW = 100  # of jobs whose start is decided by flow control
FLOW_RANKS = [rank + FLOW for rank in RANKS]
FIRST_FLOW = FLOW_RANKS[0]
INTO_FLOW = FLOW - STICKY  # of a sticky job, which has the rank of any other in its flow
BLOCKED = 200  # of jobs that wait for the end of others, beyond all others
FIRST_BLOCKED = BLOCKED - 10


def rank_of(priority: int, sticky: bool, in_line: bool = False) -> int:
    return -priority + STICKY * sticky + LINE * in_line


def shared_rank(rank: int) -> int:
    """Return the rank that the job would have if nothing but its priority counted."""
    rank = _unblocked(rank)
    plain = rank - FLOW if rank >= FIRST_FLOW else rank
    awake = plain - PAUSED if plain > LINE_RANKS[-1] else plain
    sticky = awake - LINE if awake > STICKY_RANKS[-1] else awake
    return sticky - STICKY if sticky > RANKS[-1] else sticky


def is_blocked(rank: int) -> bool:
    """Return whether the job waits for the end of others."""
    return rank >= FIRST_BLOCKED


def _unblocked(rank: int) -> int:
    return rank - BLOCKED if is_blocked(rank) else rank


def is_in_line(rank: int) -> bool:
    rank = _unblocked(rank)
    awake = rank - PAUSED if LINE_RANKS[-1] < rank < FIRST_FLOW else rank
    return awake in LINE_RANKS
