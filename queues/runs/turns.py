"""Turns: one job of a sticky key runs at a time, in the order of push.

The row decides who may start, and the database refuses a second turn of the same key. Whoever ends
a run, adds a job or changes a waiting one passes the turn on after the commit; what a crash leaves
undone is passed on by the curator.
"""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import structlog
from django.db import IntegrityError

from atributo_site.core.after_commit import after_commit
from atributo_site.core.database import dialect, execute
from atributo_site.core.retry import retry_busy
from queues.models import Queue, QueuedJob
from queues.models.job import SERIAL
from queues.runs.doorbell import ring
from queues.sql import turns as sql

TRIES = 5  # others may pass the same turn on at the same time
log = structlog.get_logger(__name__)


class Given(NamedTuple):
    """A job that has got the turn of its key."""

    job_id: int
    key: str
    station: str | None
    is_due: bool


class Line(NamedTuple):
    """The jobs of one key in one queue."""

    queue_id: int
    key: str


def pass_on(queue_id: int, keys: Iterable[str], *, ended: bool = False) -> list[Given]:
    """Let the next job of each key start, as far as none of them runs or waits for a retry.

    Where the jobs with the turn have `ended`, there is nobody to take it from.
    """
    listed = sorted(set(keys))
    return retry_busy(partial(_pass_on, queue_id, listed, ended), repeatable=True)


def _pass_on(queue_id: int, keys: list[str], ended: bool) -> list[Given]:
    d = dialect()
    asked = {"queue_id": queue_id, "keys": keys if d.lock else json.dumps(keys)}
    for _ in range(TRIES):
        if not ended:
            execute(sql.take(d), asked)
        try:
            return [Given(*row) for row in execute(sql.give(d), asked).rows]
        except IntegrityError:  # somebody else gave it at the same moment; ours may go first
            ended = False
    log.warning("turn_not_given", queue=queue_id, keys=len(keys))  # the curator gives it
    return []


def lines_of(job_ids: Sequence[int]) -> list[Line]:
    """Return the lines that these jobs belong to, those that have ended included."""
    jobs = QueuedJob.objects.filter(SERIAL, pk__in=job_ids).order_by()
    pairs = jobs.values_list("queue_id", "sticky_key").distinct()
    return [Line(queue_id, key or "") for queue_id, key in pairs]


def pass_on_and_ring(lines: Sequence[Line]) -> None:
    """Pass turns on once this is committed, and ring where a job may start now."""
    if lines:
        after_commit(partial(_pass_on_and_ring, lines))


def _pass_on_and_ring(lines: Sequence[Line]) -> None:
    keys: dict[int, list[str]] = {}
    for line in lines:
        keys.setdefault(line.queue_id, []).append(line.key)
    names = dict(Queue.objects.filter(pk__in=keys).values_list("pk", "name"))
    for queue_id, of_queue in keys.items():
        ring_for(pass_on(queue_id, of_queue), queue_id, names[queue_id])


def ring_for(given: Iterable[Given], queue_id: int, queue: str, *, but: str | None = None) -> None:
    """Ring at the stations of jobs that may start now, `but` the one where a worker looks next."""
    stations = {each.station for each in given if each.is_due and each.station}
    for station in sorted(stations - {but}):
        ring(queue_id, queue, station=station)


class Walk(NamedTuple):
    """How far a walk over all lines came; None at its end."""

    without_turn: list[Line]
    last: Line | None


def walk(after: Line | None, limit: int) -> Walk:
    """Look at the next lines for some in which no job has the turn."""
    queue_id, key = after or (0, "")
    asked: dict[str, Any] = {"queue_id": queue_id, "key": key, "limit": limit}
    rows = execute(sql.without_turn(dialect()), asked).rows
    idle = [Line(queue, key) for queue, key, has_turn in rows if not has_turn]
    return Walk(idle, Line(*rows[-1][:2]) if len(rows) == limit else None)
