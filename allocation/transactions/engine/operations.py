"""The operations of a transaction: each checks the fence, locks, journals and writes."""

import json
from typing import Any, NamedTuple

from django.conf import settings

from allocation.transactions.documents import documents
from allocation.transactions.errors import KeyIsContended
from allocation.transactions.models.document import new_ref
from allocation.transactions.store import sql, statements
from allocation.transactions.store.keys import Demand, Key, checked_json
from allocation.transactions.store.refusals import why_locked, why_over, why_unmet
from allocation.transactions.store.response import Response
from atributo_site.core.database import Row, dialect
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import current_actor
from atributo_site.core.failpoints import failpoint

TRIES = 20


class Fence(NamedTuple):
    """Which transaction acts, and the epoch that it must still have."""

    txn: int
    epoch: int


def begin(owner: str = "", label: str = "", caller: str = "") -> Fence:
    """Begin a transaction; its owner is the actor of this process unless one is named."""
    actor = current_actor()
    life = settings.ATRIBUTO.max_job_time_ms / 1000
    limit = max(settings.ATRIBUTO.max_job_limit_ms / 1000, life)
    failpoint("begin.before")
    rows = statements.run(
        statements.begin(dialect()),
        owner=(owner or actor.name)[:255],
        label=label[:255],
        channel=actor.channel,
        caller=caller,
        seconds=life,
        limit_seconds=limit,
    )
    failpoint("begin.after")
    return Fence(rows[0][0], epoch=1)


def put(fence: Fence, place: Key, value: Any, demand: Demand) -> Response:
    text = checked_json(value)
    script = statements.transactional_put(dialect(), demand.condition)
    ref = new_ref()
    failpoint("put.before")
    _run(script, fence, place, demand, value=text, present=True, ref=ref, action="put")
    failpoint("put.after")
    return Response(201, **place._asdict(), ref=ref)


def delete(fence: Fence, place: Key, demand: Demand) -> Response:
    script = statements.transactional_delete(dialect(), demand.condition)
    ref = new_ref()
    failpoint("delete.before")
    _run(script, fence, place, demand, value=None, present=False, ref=ref, action="delete")
    failpoint("delete.after")
    return Response(204, **place._asdict(), ref=ref)


def get(fence: Fence, place: Key, mode: str, version: str | None = None) -> Response:
    """Hold a key and read it, as it is or as it was at a version of its history.

    A key that is missing is held as well, so that it stays missing for all others.
    """
    if version is not None:
        return _get_version(fence, place, mode, version)
    script = statements.transactional_get(dialect())
    failpoint("get.before")
    value, ref, token, present = _run(script, fence, place, Demand(sql.ANYTHING), mode=mode)
    failpoint("get.after")
    if not present:
        return documents.missing(place)
    return Response(200, _loaded(value), **place._asdict(), ref=ref, token=token)


def _get_version(fence: Fence, place: Key, mode: str, ref: str) -> Response:
    """Read what is committed or the transaction's own; the lock keeps others from changing it."""
    token = lock(fence, place, mode)
    answer = documents.get_version(place, ref, raise_if_locked=False)
    answer.token = token
    return answer


def lock(fence: Fence, place: Key, mode: str) -> int:
    """Lock a key, which need not exist; return the fencing token of the lock."""
    script = statements.transactional_lock(dialect())
    failpoint("lock.before")
    row = _run(script, fence, place, Demand(sql.ANYTHING), mode=mode)
    failpoint("lock.after")
    return row[2]


def complete(fence: Fence) -> bool:
    """Complete it by one update of its row; return whether its changes stand."""
    script = statements.complete(dialect())
    failpoint("complete.before")
    rows = statements.run(script, **fence._asdict())
    failpoint("complete.after")
    return rows == [("completed",)]


def _run(
    script: statements.Script,
    fence: Fence,
    place: Key,
    demand: Demand,
    mode: str = "exclusive",
    **parameters: Any,
) -> Row:
    for _ in range(TRIES):
        rows = statements.run(
            script,
            **fence._asdict(),
            **place._asdict(),
            mode=mode,
            if_ref=demand.if_ref,
            **parameters,
        )
        if rows:
            return rows[0]
        if refusal := _why(fence, place, demand, mode):
            raise refusal
    raise KeyIsContended(f"{'/'.join(place)} changes faster than it can be locked")


def _why(fence: Fence, place: Key, demand: Demand, mode: str) -> AtributoError | None:
    return why_over(*fence) or why_locked(place, mode, fence.txn) or why_unmet(place, demand)


def _loaded(value: Any) -> Any:
    """Parse JSON, which raw SQL returns as text on SQLite and by Django's PostgreSQL adapter."""
    return json.loads(value) if isinstance(value, str) else value
