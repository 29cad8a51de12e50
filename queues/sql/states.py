"""The states of a job as conditions that an index answers."""

from queues.logic.ranks import (
    BLOCKED as BLOCKED_BY,
)
from queues.logic.ranks import (
    FIRST_BLOCKED,
    FLOW_RANKS,
    LINE_RANKS,
    PAUSED,
    RANKS,
    STICKY_RANKS,
)

PAUSED_RANKS = ", ".join(
    str(rank + PAUSED + offset)
    for offset in (0, BLOCKED_BY)
    for rank in (*RANKS, *STICKY_RANKS, *LINE_RANKS, *FLOW_RANKS)
)

# SQLite takes a partial index only where its condition stands in the query as it was defined,
# with no parameter in it; with ORM filters each count would read the whole table.
FREE = "queues_queuedjob.status = 'pending' AND queues_queuedjob.slot_id IS NULL"
AWAKE = "queues_queuedjob.paused_at IS NULL"
BLOCKED = f"queues_queuedjob.rank >= {FIRST_BLOCKED}"
ASLEEP = "queues_queuedjob.paused_at IS NOT NULL"
BEGUN = "queues_queuedjob.status IN ('progress', 'complete', 'failed')"
FAILED = (
    "queues_queuedjob.status = 'failed' AND queues_queuedjob.aborted_at IS NULL "
    "AND queues_queuedjob.expired_at IS NULL"
)
ABORTED = "queues_queuedjob.aborted_at IS NOT NULL"  # the API calls it failed; nobody wished that
EXPIRED = "queues_queuedjob.expired_at IS NOT NULL"  # likewise
INDEXED = {
    "waiting": f"{FREE} AND {AWAKE}",
    "delayed": f"{FREE} AND {AWAKE}",
    "paused": f"{FREE} AND {ASLEEP}",
    "blocked": f"{FREE} AND {BLOCKED} AND {AWAKE}",
    "running": f"{BEGUN} AND queues_queuedjob.status = 'progress'",
    "complete": f"{BEGUN} AND queues_queuedjob.status = 'complete'",
    "failed": FAILED,
    "aborted": ABORTED,
    "expired": EXPIRED,
}
OPEN = "queues_queuedjob.status IN ('pending', 'progress', 'failed')"
# Where a script or an error is named, their own indexes are better. The status is given as a
# parameter then, which keeps SQLite from the indexes of waiting jobs.
NARROW_FREE = f"{OPEN} AND queues_queuedjob.slot_id IS NULL"
NARROW = {
    "waiting": f"{NARROW_FREE} AND {AWAKE}",
    "delayed": f"{NARROW_FREE} AND {AWAKE}",
    "paused": INDEXED["paused"],
    "blocked": INDEXED["blocked"],
    "running": f"{OPEN} AND queues_queuedjob.status = 'progress'",
    "complete": "queues_queuedjob.status = 'complete'",
    "failed": f"{OPEN} AND {FAILED}",
    "aborted": f"{OPEN} AND queues_queuedjob.status = 'failed' AND {ABORTED}",
    "expired": f"{OPEN} AND queues_queuedjob.status = 'failed' AND {EXPIRED}",
}
# The index of waiting jobs is by queue and rank, and what is paused has ranks of its own.
PAUSED_KEYS = (
    "SELECT p.id FROM queues_queuedjob p WHERE p.queue_id IN (SELECT id FROM queues_queue)"
    f" AND p.rank IN ({PAUSED_RANKS}) AND p.status = 'pending' AND p.slot_id IS NULL"  # nosec B608 # of constants only
)
