"""Retry, abort or delete every job that matches a query, some of them with each sweep.

A piece is done first and marked as done afterwards. Where a curator dies in between, the next one
repeats the piece; most of its jobs are changed already then, and match no longer.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.events import current_actor, record
from atributo_site.core.leases import HeldLease
from queues.errors import BadOperation, OperationNotFound
from queues.jobs import bulk
from queues.logic.lifecycle import Status
from queues.models import Operation, OperationRefusal
from queues.queries.failures import error_of
from queues.queries.search import Found, search

PIECE = 500
PIECES_PER_SWEEP = 4
MOST_REFUSALS = 1000
LONGEST_REASON = 2000
LARGEST_ID = 2**63 - 1
COUNTED = 10_000
NARROWING = ("text", "fingerprint", "since", "until")
# The states that an action cannot change, and the reason that is shown.
HOPELESS = {
    "retry": ({Status.PROGRESS}, "It is running."),
    "abort": ({Status.COMPLETE, Status.FAILED}, "It had already finished."),
    "delete": (set[Status](), ""),
}


def matching(query: dict[str, Any], now: datetime, newest: int | None = None) -> Found:
    """Return the jobs that a stored query matches: text, state, fingerprint, since, until."""
    moments = [query.get(name) for name in ("since", "until")]
    ended = tuple(datetime.fromisoformat(each) if each else None for each in moments)
    return search(
        query.get("text", ""),
        state=query.get("state", ""),
        fingerprint=query.get("fingerprint", ""),
        newest=newest,
        ended=(ended[0], ended[1]) if any(ended) else None,
        now=now,
    )


def start(
    action: str,
    query: dict[str, Any],
    now: datetime,
    *,
    reason: str = "",
    everything: bool = False,
    schedules: bool = False,
    upto: int | None = None,
) -> Operation:
    """Store what is to be done; jobs that are pushed from now on are not touched.

    Jobs that repeat are not ended with the others, unless `schedules` asks for them.
    """
    if action not in bulk.ACTIONS:
        raise BadOperation("the action must be retry, abort or delete")
    if not everything and not any(query.get(name) for name in NARROWING):
        raise BadOperation("nothing narrows this down: pass 'everything' if that is meant")
    query = {**query, "schedules": True} if schedules else query
    sentence = query_said(query)
    jobs = matching(query, now, upto).jobs
    newest = jobs.order_by("-pk").values_list("pk", flat=True).first()
    with atomic():
        made = Operation.objects.create(
            action=action,
            query=query,
            said=sentence[:1000],
            reason=reason[:LONGEST_REASON],
            actor=current_actor().name,
            upto=LARGEST_ID if newest is None else newest,
            expected=jobs.order_by()[: COUNTED + 1].count(),
        )
        about = f"operation:{made.pk}"
        record("operation.started", about, action=action, query=sentence, reason=reason)
    return made


def query_said(query: dict[str, Any]) -> str:
    """Say it in words; an error is named by its text."""
    words = {"state": "{}", "text": "{}", "fingerprint": "error {!r}"}
    words |= {"since": "ended since {}", "until": "ended before {}"}
    error = error_of(query.get("fingerprint", "")) or query.get("fingerprint")
    given = {**query, "fingerprint": error}
    parts = [word.format(given[name]) for name, word in words.items() if given.get(name)]
    parts = parts or ["every job"]
    return " · ".join([*parts, "with schedules"] if query.get("schedules") else parts)


def abort(operation_id: int) -> bool:
    """Stop an operation; what is done stays done, the rest is left alone."""
    with atomic():
        ended = _end(operation_id, Operation.State.ABORTED)
        if ended:
            record("operation.aborted", f"operation:{operation_id}")
    if not ended and not Operation.objects.filter(pk=operation_id).exists():
        raise OperationNotFound(f"There is no operation {operation_id}.")
    return ended


def advance(now: datetime, lease: HeldLease) -> int:
    """Go on with the oldest operations by a bounded number of pieces. This mends nothing."""
    for _ in range(PIECES_PER_SWEEP):
        operation = Operation.objects.unfinished().order_by("pk").first()
        if operation is None:
            break
        with atomic():
            lease.guard()
        _do_piece(operation, now, lease)
    return 0


def _do_piece(operation: Operation, now: datetime, lease: HeldLease) -> None:
    matched = matching(operation.query, now, operation.upto)
    jobs = list(matched.jobs.order_by("-pk").values_list("pk", "status")[:PIECE])
    done = _apply(operation, jobs)
    with atomic():
        lease.guard()
        _note(operation, jobs, done)
        if not jobs and matched.floor is None:
            _finish(operation.pk)
        elif len(jobs) < PIECE:  # the rest of the window holds none
            floor = matched.floor if matched.floor is not None else jobs[-1][0]
            _lower(operation, floor - 1)
        else:
            _lower(operation, jobs[-1][0] - 1)


def _apply(operation: Operation, jobs: Sequence[tuple[int, str]]) -> bulk.Done:
    hopeless, why = HOPELESS[operation.action]
    ids = [pk for pk, status in jobs if status not in hopeless]
    schedules = bool(operation.query.get("schedules"))
    done = bulk.apply(operation.action, ids, schedules=schedules)
    done.refused.update({str(pk): why for pk, status in jobs if status in hopeless})
    return done


def _note(operation: Operation, jobs: Sequence[Any], done: bulk.Done) -> None:
    Operation.objects.unfinished().filter(pk=operation.pk).update(
        state=Operation.State.RUNNING,
        visited=F("visited") + len(jobs),
        changed=F("changed") + min(done.changed, len(jobs)),
        refused=F("refused") + len(done.refused),
    )
    room = max(0, MOST_REFUSALS - operation.refused)
    OperationRefusal.objects.bulk_create(
        OperationRefusal(operation=operation, job_id=int(job_id), reason=reason[:500])
        for job_id, reason in list(done.refused.items())[:room]
    )


def _lower(operation: Operation, upto: int) -> None:
    Operation.objects.filter(pk=operation.pk, upto=operation.upto).update(upto=upto)


def _finish(operation_id: int) -> None:
    if _end(operation_id, Operation.State.COMPLETE):
        row = Operation.objects.get(pk=operation_id)
        about = f"operation:{operation_id}"
        record("operation.complete", about, changed=row.changed, refused=row.refused, by=row.actor)


def _end(operation_id: int, state: str) -> bool:
    open_ones = Operation.objects.unfinished().filter(pk=operation_id)
    return open_ones.update(state=state, ended_at=Now()) == 1
