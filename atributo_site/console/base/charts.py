"""Draw the charts of all queues or one: points for the browser, bars and a table without script.

Bars count runs and attempts, and the runs of repeating jobs and retried attempts end no job. So a
bar links to a list of jobs only after a look at the jobs themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache
from django.urls import reverse

from atributo_site.web.format import duration
from queues.logic.search_query import written
from queues.models import Queue
from queues.queries.failures import failed_since
from queues.queries.history import (
    COUNTS,
    KINDS,
    RANGES,
    SHARES,
    Range,
    history,
    whole,
    with_ended_jobs,
)

WORDS = {"1h": "Last hour", "24h": "Last 24 hours", "7d": "Last 7 days", "90d": "Last 90 days"}
KEPT_SECONDS = {"24h": 15, "7d": 60, "90d": 300}  # a longer slice changes more slowly
LINES_IN_TABLE = 12
DAY_SECONDS = 86_400

Points = list[dict[str, Any]]


@dataclass(frozen=True)
class Ends:
    """The starts of the slices in which jobs ended that a list still has."""

    failed: frozenset[datetime]
    any: frozenset[datetime]


def charts(wanted: str, now: datetime, queue: Queue | None = None) -> dict[str, Any]:
    """Return everything that the template and the script need for one range."""
    chosen = RANGES.get(wanted, RANGES["1h"])
    points, ends = _cached_points(chosen, now, queue)
    totals = {name: sum(point[name] for point in points) for name in COUNTS}
    bars = [
        {
            "complete": point["complete"],
            "failed": point["failed"],
            "at": point["at"],
            "url": _jobs_url(point, chosen, ends, queue),
        }
        for point in points
    ]
    lines = [point for point in points[::-1] if any(point[name] for name in COUNTS)]
    failed_url = _address(queue, state="failed", since=chosen.name) if ends.failed else ""
    return {
        "now": now,
        "of_queue": queue is not None,
        "range": chosen.name,
        "words": WORDS[chosen.name],
        "choices": [(name, WORDS[name], name == chosen.name) for name in RANGES],
        "totals": totals,
        "failed_url": failed_url,
        "times": {kind: _durations(whole(points, kind)) for kind in KINDS},
        "buckets": buckets(points),
        "ran": totals["complete"] + totals["failed"] > 0,
        "bars": bars,
        "lines": [_line(point) for point in lines[:LINES_IN_TABLE]],
        "slice": duration(chosen.slice_seconds),
        "is_by_day": chosen.slice_seconds >= DAY_SECONDS,
        "points": {**_columns(points, chosen), "urls": [bar["url"] for bar in bars]},
    }


def buckets(points: Points) -> dict[str, int]:
    """Return how many jobs of the whole range fell into each bucket of waiting and running."""
    rows = {kind: [point["buckets"][kind] for point in points] for kind in KINDS}
    return {
        f"{kind}_{number}": sum(column)
        for kind in KINDS
        for number, column in enumerate(zip(*rows[kind], strict=True))
    }


def _cached_points(chosen: Range, now: datetime, queue: Queue | None) -> tuple[Points, Ends]:
    key = f"console:history:{chosen.name}:{queue.pk if queue else 'all'}"
    kept_seconds = KEPT_SECONDS.get(chosen.name)
    kept = cache.get(key) if kept_seconds else None
    if kept is not None:
        return kept
    points = history(now, chosen, queue.pk if queue else None)
    ends = ends_in(points, chosen, queue)
    if kept_seconds:
        cache.set(key, (points, ends), kept_seconds)
    return points, ends


def ends_in(points: Sequence[dict[str, Any]], chosen: Range, queue: Queue | None) -> Ends:
    failed = frozenset(
        _slice_of(ended_at, chosen)
        for queue_id, ended_at in failed_since(points[0]["at"])
        if queue is None or queue_id == queue.pk
    )
    if queue is not None:  # of one queue, only the failed jobs are listed so far back
        return Ends(failed, failed)
    spans = [_span(point["at"], chosen) for point in points if point["complete"] + point["failed"]]
    return Ends(failed, frozenset(since for since, _ in with_ended_jobs(spans)) | failed)


def _jobs_url(point: dict[str, Any], chosen: Range, ends: Ends, queue: Queue | None) -> str:
    """Link to the jobs that ended in the slice, the failed ones if there are any; else nothing."""
    if point["at"] not in ends.any or not point["complete"] + point["failed"]:
        return ""
    state = {"state": "failed"} if point["at"] in ends.failed else {}
    since, until = (at.strftime("%Y-%m-%dT%H:%M") for at in _span(point["at"], chosen))
    return _address(queue, **state, since=since, until=until)


def _address(queue: Queue | None, **filters: str) -> str:
    of_queue = {} if queue is None else {"q": written("queue", queue.name)}
    return f"{reverse('atributo:jobs')}?{urlencode(filters | of_queue)}"


def _span(at: datetime, chosen: Range) -> tuple[datetime, datetime]:
    return at, at + timedelta(seconds=chosen.slice_seconds)


def _slice_of(moment: datetime, chosen: Range) -> datetime:
    seconds = int(moment.timestamp())
    return datetime.fromtimestamp(seconds - seconds % chosen.slice_seconds, UTC)


def _columns(points: Points, chosen: Range) -> dict[str, Any]:
    """Return the points column by column, in seconds since 1970 and milliseconds."""
    return {
        "slice": chosen.slice_seconds,
        "at": [int(point["at"].timestamp()) for point in points],
        "complete": [point["complete"] for point in points],
        "failed": [point["failed"] for point in points],
        **{
            f"{kind}_{name}": [point[kind][name] for point in points]
            for kind in KINDS
            for name in SHARES
        },
    }


def _line(point: dict[str, Any]) -> dict[str, Any]:
    return {**point, **{kind: list(_durations(point[kind]).values()) for kind in KINDS}}


def _durations(times_ms: dict[str, float | None]) -> dict[str, str]:
    return {name: duration(None if ms is None else ms / 1000) for name, ms in times_ms.items()}
