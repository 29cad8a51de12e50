"""Where a bar of a chart leads: to a list that has jobs, or nowhere.

Bars count runs and attempts. A run of a job that repeats and an attempt that is tried again end no
job, people let failed jobs run again, and old ones are forgotten: so the rows are asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from queues.ended import with_ended_jobs
from queues.failures import failed_since
from queues.history import Range
from queues.logic.job_query import written
from queues.models import Queue


@dataclass(frozen=True)
class Ends:
    """The slices, by their beginnings, in which jobs ended that a list has."""

    failed: frozenset[datetime]
    any: frozenset[datetime]


def ends_in(points: Sequence[dict[str, Any]], chosen: Range, queue: Queue | None) -> Ends:
    failed = frozenset(
        _slice(ended_at, chosen)
        for queue_id, ended_at in failed_since(points[0]["at"])
        if queue is None or queue_id == queue.pk
    )
    if queue is not None:  # a list of one queue may not reach so far back, but to what failed
        return Ends(failed, failed)
    spans = [_span(point["at"], chosen) for point in points if point["complete"] + point["failed"]]
    return Ends(failed, frozenset(since for since, _ in with_ended_jobs(spans)) | failed)


def jobs_of(at: datetime, chosen: Range, ends: Ends, queue: Queue | None) -> str:
    """The jobs that ended in the slice, the failed ones where there are any; empty: nowhere."""
    if at not in ends.any:
        return ""
    state = {"state": "failed"} if at in ends.failed else {}
    since, until = _span(at, chosen)
    return _address(queue, **state, since=_typed(since), until=_typed(until))


def failed_jobs(chosen: Range, ends: Ends, queue: Queue | None) -> str:
    """Those of the whole range; empty where none ended so."""
    return _address(queue, state="failed", since=chosen.name) if ends.failed else ""


def _address(queue: Queue | None, **asked: str) -> str:
    whose = {} if queue is None else {"q": written("queue", queue.name)}
    return f"{reverse('jobs')}?{urlencode(asked | whose)}"


def _span(at: datetime, chosen: Range) -> tuple[datetime, datetime]:
    return at, at + timedelta(seconds=chosen.slice_seconds)


def _slice(moment: datetime, chosen: Range) -> datetime:
    seconds = int(moment.timestamp())
    return datetime.fromtimestamp(seconds - seconds % chosen.slice_seconds, UTC)


def _typed(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M")
