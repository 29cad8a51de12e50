"""Charts of all queues or one: points for the browser, bars and a table where no script runs.

Where a bar of a chart leads: to a list that has jobs, or nowhere.

Bars count runs and attempts. A run of a job that repeats and an attempt that is tried again end no
job, people let failed jobs run again, and old ones are forgotten: so the rows are asked.
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


WORDS = {"1h": "Last hour", "24h": "Last 24 hours", "7d": "Last 7 days", "90d": "Last 90 days"}
KEPT_SECONDS = {"24h": 15, "7d": 60, "90d": 300}  # a longer slice changes more slowly
LINES_IN_TABLE = 12
DAY_SECONDS = 86_400

Points = list[dict[str, Any]]


def charts(wanted: str, now: datetime, queue: Queue | None = None) -> dict[str, Any]:
    """Everything the template and the script need for one range."""
    chosen = RANGES.get(wanted, RANGES["1h"])
    points, ends = _remembered(chosen, now, queue)
    totals = {name: sum(point[name] for point in points) for name in COUNTS}
    bars = [_bar(point, _url(point, chosen, ends, queue)) for point in points]
    return {
        "now": now,
        "of_queue": queue is not None,
        "range": chosen.name,
        "words": WORDS[chosen.name],
        "choices": [(name, WORDS[name], name == chosen.name) for name in RANGES],
        "totals": totals,
        "failed_url": failed_jobs(chosen, ends, queue),
        "times": {kind: _said_all(whole(points, kind)) for kind in KINDS},
        "buckets": buckets(points),
        "ran": totals["complete"] + totals["failed"] > 0,
        "bars": bars,
        "lines": [_line(point) for point in points[::-1] if _happened(point)][:LINES_IN_TABLE],
        "slice": duration(chosen.slice_seconds),
        "is_by_day": chosen.slice_seconds >= DAY_SECONDS,
        "points": {**_columns(points, chosen), "urls": [bar["url"] for bar in bars]},
    }


def buckets(points: Points) -> dict[str, int]:
    """Column → how many waited or ran so long in the whole range."""
    counted = {kind: [point["buckets"][kind] for point in points] for kind in KINDS}
    columns = {kind: enumerate(zip(*rows, strict=True)) for kind, rows in counted.items()}
    return {f"{kind}_{n}": sum(each) for kind, found in columns.items() for n, each in found}


def _remembered(chosen: Range, now: datetime, queue: Queue | None) -> tuple[Points, Ends]:
    if chosen.name not in KEPT_SECONDS:
        return _asked(chosen, now, queue)
    key = f"console:history:{chosen.name}:{queue.pk if queue else 'all'}"
    found = cache.get(key)
    if found is None:
        found = _asked(chosen, now, queue)
        cache.set(key, found, KEPT_SECONDS[chosen.name])
    return found


def _asked(chosen: Range, now: datetime, queue: Queue | None) -> tuple[Points, Ends]:
    points = history(now, chosen, queue.pk if queue else None)
    return points, ends_in(points, chosen, queue)


def _columns(points: Points, chosen: Range) -> dict[str, Any]:
    """Column by column, as the chart wants it; seconds since 1970 and milliseconds."""
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


def _url(point: dict[str, Any], chosen: Range, ends: Ends, queue: Queue | None) -> str:
    return jobs_of(point["at"], chosen, ends, queue) if point["complete"] + point["failed"] else ""


def _bar(point: dict[str, Any], url: str) -> dict[str, Any]:
    return {"complete": point["complete"], "failed": point["failed"], "at": point["at"], "url": url}


def _happened(point: dict[str, Any]) -> bool:
    return any(point[name] for name in COUNTS)


def _line(point: dict[str, Any]) -> dict[str, Any]:
    times = {kind: list(_said_all(point[kind]).values()) for kind in KINDS}
    return {**point, **times}


def _said_all(times: dict[str, float | None]) -> dict[str, str]:
    return {name: _said(milliseconds) for name, milliseconds in times.items()}


def _said(milliseconds: float | None) -> str:
    return duration(None if milliseconds is None else milliseconds / 1000)
