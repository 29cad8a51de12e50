"""What all queues or one did over an hour, a day, a week or a quarter, in even slices.

It reads the counters alone, grouped by the database. One more query finds the slices in which jobs
ended that can still be listed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import BigIntegerField, Func, Sum

from atributo_site.core.database import dialect, execute
from queues.models import HourCount, MinuteCount
from queues.models.counters import BOUNDS_MS
from queues.queries.counters import summed_until
from queues.sql.history import spans_with_ends

Span = tuple[datetime, datetime]  # from the first up to the second
COUNTS = ("pushed", "complete", "failed", "retried")
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
KINDS = ("wait", "run")
BUCKETS = range(len(BOUNDS_MS) + 1)
COLUMNS = [*COUNTS, *(f"{kind}_{n}" for kind in KINDS for n in BUCKETS)]
ZEROS = {f"sum_{name}": 0 for name in COLUMNS}
HOUR_SECONDS = 3600


def with_ended_jobs(spans: Sequence[Span]) -> set[Span]:
    """Return the spans in which a job ended that still exists; a repeating job leaves none."""
    if not spans:
        return set()
    adapted = connection.ops.adapt_datetimefield_value  # SQLite compares texts
    rows = [[number, *(str(adapted(each)) for each in span)] for number, span in enumerate(spans)]
    asked = {"spans": json.dumps(rows)}
    return {spans[number] for (number,) in execute(spans_with_ends(dialect()), asked).rows}


@dataclass(frozen=True)
class Range:
    """A span that ends now, cut into slices of `slice_seconds`."""

    name: str
    span: timedelta
    slice_seconds: int

    @property
    def points(self) -> int:
        return int(self.span.total_seconds()) // self.slice_seconds


RANGES = {
    each.name: each
    for each in (
        Range("1h", timedelta(hours=1), 60),
        Range("24h", timedelta(days=1), 900),
        Range("7d", timedelta(days=7), 7200),
        Range("90d", timedelta(days=90), 86_400),
    )
}


class Slice(Func):
    """The number of the slice that a moment lies in, counted from 1970."""

    output_field = BigIntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "(CAST(strftime('%%%%s', %(expressions)s) AS INTEGER) / %(seconds)s)"
        return super().as_sql(compiler, connection, template=template, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "(EXTRACT(EPOCH FROM %(expressions)s)::bigint / %(seconds)s)"
        return super().as_sql(compiler, connection, template=template, **context)


def history(now: datetime, wanted: Range, queue_id: int | None = None) -> list[dict[str, Any]]:
    """Return one point for each slice, oldest first, of one queue or of all."""
    last = int(now.timestamp()) // wanted.slice_seconds
    first = last - wanted.points + 1
    since = datetime.fromtimestamp(first * wanted.slice_seconds, UTC)
    whose = {} if queue_id is None else {"queue_id": queue_id}
    sums = _sums(since, now, wanted.slice_seconds, whose)
    return [_point(number, sums.get(number), wanted) for number in range(first, last + 1)]


def _sums(
    since: datetime, now: datetime, seconds: int, whose: dict[str, int]
) -> dict[int, dict[str, Any]]:
    """Return the sums of each slice; where slices are hours or more, by the sums of hours."""
    if seconds % HOUR_SECONDS:
        minutes = MinuteCount.objects.filter(**whose, minute__gte=since)
        return _grouped(minutes, "minute", seconds)
    border = max(since, summed_until(now) or since)
    hours = HourCount.objects.filter(**whose, hour__gte=since, hour__lt=border)
    minutes = MinuteCount.objects.filter(**whose, minute__gte=border)
    sums = _grouped(hours, "hour", seconds)
    for number, row in _grouped(minutes, "minute", seconds).items():
        earlier = sums.get(number, ZEROS)
        sums[number] = {name: value + earlier[name] for name, value in row.items()}
    return sums


def _grouped(rows: Any, column: str, seconds: int) -> dict[int, dict[str, Any]]:
    slices = rows.order_by().annotate(slice=Slice(column, seconds=seconds)).values("slice")
    sums = slices.annotate(**{f"sum_{name}": Sum(name) for name in COLUMNS})
    return {row.pop("slice"): row for row in sums}


def _point(number: int, row: dict[str, Any] | None, wanted: Range) -> dict[str, Any]:
    at = datetime.fromtimestamp(number * wanted.slice_seconds, UTC)
    counts = {name: row[f"sum_{name}"] if row else 0 for name in COUNTS}
    buckets = {kind: _buckets(row, kind) for kind in KINDS}
    shares = {kind: _shares(counted) for kind, counted in buckets.items()}
    return {"at": at, **counts, **shares, "buckets": buckets}


def whole(points: list[dict[str, Any]], kind: str) -> dict[str, float | None]:
    """Return the same shares over all points."""
    columns = zip(*(point["buckets"][kind] for point in points), strict=True)
    return _shares([sum(column) for column in columns])


def _buckets(row: dict[str, Any] | None, kind: str) -> list[int]:
    return [row[f"sum_{kind}_{number}"] if row else 0 for number in BUCKETS]


def _shares(counts: list[int]) -> dict[str, float | None]:
    """Return milliseconds by the name of the share; None where nothing ran."""
    return {name: quantile(BOUNDS_MS, counts, share) for name, share in SHARES.items()}


def quantile(bounds: Sequence[float], counts: Sequence[int], share: float) -> float | None:
    """`bounds` end all buckets but the last; a value in that one counts as its beginning."""
    wanted, seen = share * sum(counts), 0
    if not wanted:
        return None
    lower = 0.0
    for bound, count in zip(bounds, counts, strict=False):
        if count and seen + count >= wanted:
            return lower + (bound - lower) * (wanted - seen) / count
        seen, lower = seen + count, bound
    return lower
