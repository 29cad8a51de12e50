"""The states of a job in words, each as a condition that an index answers.

Jobs by many keys, each looked up by itself on both databases.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connections
from django.db.models import BooleanField, Func

from queues.logic.lifecycle import Status
from queues.logic.ranks import PAUSED, RANKS, STICKY_RANKS

PENDING = ("waiting", "delayed", "paused")
STATES = (*PENDING, "running", "complete", "failed", "aborted")
PAUSED_RANKS = ", ".join(str(rank + PAUSED) for rank in (*RANKS, *STICKY_RANKS))

# SQLite takes a partial index only where its condition stands in the query as it was defined,
# with no parameter in it; with ORM filters each count would read the whole table.
FREE = "queues_queuedjob.status = 'pending' AND queues_queuedjob.slot_id IS NULL"
AWAKE = "queues_queuedjob.paused_at IS NULL"
ASLEEP = "queues_queuedjob.paused_at IS NOT NULL"
BEGUN = "queues_queuedjob.status IN ('progress', 'complete', 'failed')"
FAILED = "queues_queuedjob.status = 'failed' AND queues_queuedjob.aborted_at IS NULL"
ABORTED = "queues_queuedjob.aborted_at IS NOT NULL"  # the API calls it failed; nobody wished that
INDEXED = {
    "waiting": f"{FREE} AND {AWAKE}",
    "delayed": f"{FREE} AND {AWAKE}",
    "paused": f"{FREE} AND {ASLEEP}",
    "running": f"{BEGUN} AND queues_queuedjob.status = 'progress'",
    "complete": f"{BEGUN} AND queues_queuedjob.status = 'complete'",
    "failed": FAILED,
    "aborted": ABORTED,
}
BEGUN_AS: dict[str, dict[str, Any]] = {
    "running": {"status": Status.PROGRESS},
    "complete": {"status": Status.COMPLETE},
    "failed": {"status": Status.FAILED, "aborted_at": None},
    "aborted": {"aborted_at__isnull": False},
}
OPEN = "queues_queuedjob.status IN ('pending', 'progress', 'failed')"
# Where a script or an error is named their own indexes are better. That a job waits is said with a
# parameter then, which keeps SQLite from the indexes of waiting jobs.
NARROW_FREE = f"{OPEN} AND queues_queuedjob.slot_id IS NULL"
NARROW = {
    "waiting": f"{NARROW_FREE} AND {AWAKE}",
    "delayed": f"{NARROW_FREE} AND {AWAKE}",
    "paused": INDEXED["paused"],
    "running": f"{OPEN} AND queues_queuedjob.status = 'progress'",
    "complete": "queues_queuedjob.status = 'complete'",
    "failed": f"{OPEN} AND {FAILED}",
    "aborted": f"{OPEN} AND queues_queuedjob.status = 'failed' AND {ABORTED}",
}
# The index of waiting jobs is by queue and rank, and what is paused has ranks of its own.
PAUSED_KEYS = (
    "SELECT p.id FROM queues_queuedjob p WHERE p.queue_id IN (SELECT id FROM queues_queue)"
    f" AND p.rank IN ({PAUSED_RANKS}) AND p.status = 'pending' AND p.slot_id IS NULL"
)


def in_state(jobs: Any, state: str, now: datetime, conditions: Mapping[str, str] = INDEXED) -> Any:
    """Jobs that wait, wait for a later moment, are paused, run, or ended in one of three ways."""
    if state not in STATES:
        return jobs
    jobs = jobs.extra(where=[conditions[state]])
    if state == "paused":
        return _paused(jobs)
    if state not in ("waiting", "delayed"):
        return jobs
    if conditions is NARROW:
        jobs = jobs.filter(status=Status.PENDING)
    return jobs.filter(**{"due_at__lte" if state == "waiting" else "due_at__gt": now})


def _paused(jobs: Any) -> Any:
    """Found by their ranks, however many jobs wait."""
    among = "= ANY(ARRAY({}))" if connections[jobs.db].vendor == "postgresql" else "IN ({})"
    return jobs.extra(where=[f"queues_queuedjob.id {among.format(PAUSED_KEYS)}"])


def with_ids(jobs: Any, keys: Any) -> Any:
    """Those whose keys another query gives."""
    if connections[jobs.db].vendor == "postgresql":
        return jobs.filter(_OneOf("pk", ArraySubquery(keys)))
    return jobs.filter(pk__in=keys)


class _OneOf(Func):
    """As an array: PostgreSQL looks each key up, where it would join by a walk along the table."""

    template = "(%(expressions)s))"
    arg_joiner = " = ANY("
    output_field = BooleanField()


def with_keys(jobs: Any, keys: list[int]) -> Any:
    """Any number of keys as one parameter, where a list of them would be one for each."""
    if connections[jobs.db].vendor == "postgresql":
        return jobs.extra(where=["queues_queuedjob.id = ANY(%s)"], params=[keys])
    among = "queues_queuedjob.id IN (SELECT value FROM json_each(%s))"
    return jobs.extra(where=[among], params=[json.dumps(keys)])
