"""One page of a queue's pending jobs by due time, however many wait."""

from functools import cache

from queues.logic.ranks import FLOW_RANKS, LINE_RANKS, PAUSED, RANKS, STICKY_RANKS

AWAKE = [*RANKS, *STICKY_RANKS, *LINE_RANKS, *FLOW_RANKS]
VISIBLE_RANKS = [*AWAKE, *(rank + PAUSED for rank in AWAKE)]


@cache
def pending_page(*, of_script: bool, after: bool) -> str:
    """Select ids. The index is by rank, so a page takes one step into it for each rank.

    The ORM would sort all that wait. Those that a worker has reserved are few, and are found by
    their slots.
    """
    condition = "status = 'pending' AND queue_id = %(queue_id)s AND parent IS NULL"
    if of_script:
        condition += " AND mount = %(mount)s AND script = %(script)s"
    if after:
        moment = "(SELECT due_at FROM queues_queuedjob WHERE id = %(id)s)"
        condition += f" AND (due_at, id) > ({moment}, %(id)s)"
    some = "SELECT id, due_at FROM queues_queuedjob WHERE {} ORDER BY due_at, id LIMIT %(limit)s"
    ranks = [f"slot_id IS NULL AND rank = {rank} AND {condition}" for rank in VISIBLE_RANKS]
    pages = [some.format(each) for each in (*ranks, f"slot_id IS NOT NULL AND {condition}")]
    parts = (f"SELECT id, due_at FROM ({page}) p{number}" for number, page in enumerate(pages))  # nosec B608 # of constants and dialect
    return f"SELECT id FROM ({' UNION ALL '.join(parts)}) w ORDER BY due_at, id LIMIT %(limit)s"  # nosec B608 # of constants and dialect
