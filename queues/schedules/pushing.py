"""Turn a run that is due into a job, in the caller's transaction."""

from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from atributo_site.core.after_commit import after_commit
from atributo_site.core.database import dialect, execute
from queues.jobs.push_request import Definition, PushRequest, fresh
from queues.logic.schedules.policies import jitter
from queues.models import Schedule, ScheduledRun
from queues.runs.doorbell import ring
from queues.schedules import target
from queues.sql import push as push_sql

MOST_BELLS = 1000
Kind, State = ScheduledRun.Kind, ScheduledRun.State


class Pusher:
    """Push runs of many schedules: definitions are read once, and bells ring after the commit."""

    def __init__(self, now: datetime, ids: list[int]) -> None:
        """Take the clock, and ids that were made before the transaction began."""
        self.now = now
        self._ids = ids
        self._definitions: dict[tuple[str, str, str], Definition] = {}
        self._bells: Counter[tuple[int, str]] = Counter()

    def request(self, schedule: Schedule) -> tuple[PushRequest, str | None]:
        """Return the checked push and its data; raise what refuses it."""
        request = target.request(schedule, self._define)
        return request, request.text(schedule.data)

    def push(
        self, request: PushRequest, text: str | None, schedule: Schedule, due_at: datetime
    ) -> int:
        """Store the job of one run; return its id."""
        d = dialect()
        job_id = self._ids.pop(0)
        row = request.row(job_id, text)
        row |= {"due_at": d.moment(due_at), "pushed_by": f"schedule:{schedule.name}"[:255]}
        execute(push_sql.push(d, once=False), row)
        if request.options.sticky_key is None and due_at <= self.now:
            self._bells[request.queue_id, request.queue] += 1
        return job_id

    @property
    def room(self) -> int:
        """Return how many jobs it can still push."""
        return len(self._ids)

    def ring_after_commit(self) -> None:
        """Ring for jobs that any worker may run; the curator routes sticky jobs."""
        for (queue_id, queue), jobs in self._bells.items():
            after_commit(partial(ring, queue_id, queue, min(jobs, MOST_BELLS)))

    def _define(self, *names: str) -> Definition:
        if names not in self._definitions:
            self._definitions[names] = fresh(*names)  # type: ignore[index]
        return self._definitions[names]  # type: ignore[index]


def expected(
    schedule: Schedule, slot_at: datetime, state: str, kind: str = Kind.SLOT, **more: Any
) -> ScheduledRun:
    """Return a run as a row that is not stored yet."""
    due_at = slot_at + jitter(schedule.pk, slot_at, schedule.jitter_ms)
    start_by = due_at + timedelta(milliseconds=schedule.grace_ms)
    return ScheduledRun(
        schedule=schedule, kind=kind, slot_at=slot_at, state=state, start_by=start_by, **more
    )


def push_manual(schedule: Schedule, pusher: Pusher) -> int:
    """Push a run that a person wants now, whatever the rule says; raise what refuses it."""
    now = pusher.now
    job_id = pusher.push(*pusher.request(schedule), schedule, now)
    start_by = now + timedelta(milliseconds=schedule.grace_ms)
    ScheduledRun.objects.create(
        schedule=schedule,
        kind=Kind.MANUAL,
        slot_at=now,
        state=State.PUSHED,
        job_id=job_id,
        start_by=start_by,
        dispatched_at=now,
    )
    pusher.ring_after_commit()
    return job_id
