"""Tell which curator is active, and count transactions and locks for dashboard and metrics."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min, Q, QuerySet

from allocation.transactions.curator.operator_actions import checked_reason
from allocation.transactions.models import Lock, LockWait, Transaction
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import from_now

ROLE = "curator"
MOST_COUNTED = 10_000
RECENT = timedelta(hours=1)
FEW = 3  # that are named
MOST_WAITS = 100
LONG_WAIT_SECONDS = 10.0
NO_DOCUMENT = -1
Status = Transaction.Status


class NobodyIsActive(AtributoError):
    status_code = 409
    code = "nobody_is_active"


def curators(now: datetime) -> list[dict[str, Any]]:
    """Return every curator that runs; the active one is marked."""
    active = Lease.objects.held().filter(role=ROLE).first()
    running = Lease.objects.held().filter(role__startswith=f"{ROLE}/")
    name = active.facts.get("name", active.holder) if active else None
    names = {lease.role.removeprefix(f"{ROLE}/"): lease for lease in running[:200]}
    rows = [_described(each, lease, each == name, now) for each, lease in names.items()]
    if active is not None and name not in names:
        rows.insert(0, _described(str(name), active, True, now))
    return [{**row, **_epoch(active)} if row["active"] and active else row for row in rows]


def hand_over(reason: str) -> None:
    """Take the role from the active curator; the first standby that looks gets it."""
    reason = checked_reason(reason)
    active = Lease.objects.held().filter(role=ROLE).first()
    if active is None or not Lease.objects.release(ROLE, active.token):
        raise NobodyIsActive("no curator is active")
    name = active.facts.get("name", active.holder)
    record("curator.handed_over", f"curator:{name}", reason=reason, epoch=active.token)


def _described(name: str, lease: Lease, active: bool, now: datetime) -> dict[str, Any]:
    beat = lease.renewed_at
    return {
        "name": name,
        "active": active,
        "epoch": None,
        "since": lease.acquired_at,
        "heartbeat_age_seconds": None if beat is None else max(0.0, (now - beat).total_seconds()),
        "repaired": lease.facts.get("repaired", {}),
    }


def _epoch(active: Lease) -> dict[str, Any]:
    return {"epoch": active.token, "since": active.acquired_at}


def snapshot(now: datetime) -> dict[str, Any]:
    """Count with six queries, and three more where something is wrong.

    None reads more rows than are open or MOST_COUNTED.
    """
    unfinished = Transaction.objects.unfinished().aggregate(
        active=Count("pk", filter=Q(status=Status.ACTIVE)),
        rolling_back=Count("pk", filter=Q(status=Status.ROLLING_BACK)),
        stuck=Count("pk", filter=Q(status=Status.STUCK)),
        oldest=Min("started_at"),
    )
    oldest = unfinished.pop("oldest")
    waiting = capped(LockWait.objects.all())
    return {
        **unfinished,
        "stuck_first": stuck_first() if unfinished["stuck"] else [],
        "held_long": held_long() if waiting else [],
        "oldest_seconds": None if oldest is None else (now - oldest).total_seconds(),
        "overdue": capped(Transaction.objects.overdue(now)),
        "locks": capped(Lock.objects.all()),
        "waiting": waiting,
        "completed_last_hour": _finished(Status.COMPLETED, now),
        "rolled_back_last_hour": _finished(Status.ROLLED_BACK, now),
    }


def capped(rows: QuerySet) -> int:
    """Count the rows, but stop at one more than MOST_COUNTED."""
    return rows.order_by()[: MOST_COUNTED + 1].count()


def _finished(status: str, now: datetime) -> int:
    recent = Transaction.objects.finished().filter(finished_at__gte=now - RECENT)
    return capped(recent.filter(status=status))


def orphaned_locks() -> int:
    return capped(Lock.objects.orphaned())


def orphaned_first() -> list[dict[str, Any]]:
    return [_lock(lock) for lock in Lock.objects.orphaned().with_names()[:FEW]]


def stuck_first() -> list[dict[str, Any]]:
    rows = Transaction.objects.stuck().order_by("pk")[:FEW]
    return [{"id": row.pk, "error": row.error, "since": row.started_at} for row in rows]


def waits_long() -> QuerySet:
    return LockWait.objects.live().filter(since__lt=from_now(-LONG_WAIT_SECONDS))


def held_long() -> list[dict[str, Any]]:
    """Return locks that others have waited for too long, by two queries."""
    first = list(waits_long().order_by("since").values_list("document_id", "since")[:MOST_WAITS])
    oldest = dict(reversed(first))  # of each document the first wait
    often = Counter(document for document, _ in first)
    locks = Lock.objects.filter(document__in=list(oldest)[:FEW] or [NO_DOCUMENT])
    held = {lock.document_id: lock for lock in locks.with_names()}  # one holder of each will do
    return [
        {**_lock(lock), "waiting": often[document], "since": oldest[document]}
        for document, lock in held.items()
    ]


def _lock(lock: Lock) -> dict[str, Any]:
    return {
        "id": lock.pk,
        "document": str(lock.document),
        "holder": lock.transaction_id,
        "owner": lock.transaction.owner,
    }
