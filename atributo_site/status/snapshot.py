"""The state of everything as one plain dict, for the dashboard, REST and metrics.

It takes a constant number of queries, whatever the number of rows. The top of what is wrong now is
what an operator should look at first.
"""

from datetime import datetime
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import connection

from allocation import snapshot as allocation
from allocation.transactions.curator import status as transactions
from allocation.transactions.curator.status import orphaned_first, orphaned_locks
from atributo_site.core.fencing import fenced
from atributo_site.core.incidents.symptom import Severity
from atributo_site.core.models import Event, Lease
from atributo_site.core.text import runnable
from atributo_site.curator.integrity import summary as integrity
from atributo_site.curator.leadership import ROLE as CURATOR
from atributo_site.status.machine import clock_skew_seconds
from atributo_site.status.redis import redis_health
from atributo_site.status.screens import screen_of
from atributo_site.status.symptoms import symptoms
from pools import snapshot as pools
from queues.queries import snapshot as queues
from queues.queries.running import running_at

WORKER = "worker/"
NEWEST_EVENTS = 20
LEVELS = (Severity.ERROR, Severity.WARNING)


def snapshot(now: datetime) -> dict[str, Any]:
    """Return the state with what needs attention and the newest events."""
    state = state_of_everything(now)
    events = [_event(event) for event in Event.objects.newest_first()[:NEWEST_EVENTS]]
    return {**state, "events": events, "attention": attention(state)}


def state_of_everything(now: datetime) -> dict[str, Any]:
    """Return what every room says of itself; a process without pages can ask for it, too."""
    return {
        "now": now,
        "badge": settings.ATRIBUTO.badge or settings.ATRIBUTO.mode,
        **_database(),
        **present(now),
        "allocation": allocation.snapshot(now),
        "fenced": fenced(),
        "transactions": {**transactions.snapshot(now), **_orphaned_locks()},
        "pools": pools.snapshot(now),
        "queues": queues.snapshot(now),
        "integrity": integrity(),
    }


def _database() -> dict[str, Any]:
    """Return how far its clock is away, and how long it takes for so short an answer."""
    begun = monotonic()
    skew = clock_skew_seconds()
    seconds = round(monotonic() - begun, 3)
    facts = {"vendor": connection.vendor, "answer_seconds": seconds}
    return {"database": facts, "clock_skew_seconds": skew}


def _orphaned_locks() -> dict[str, Any]:
    count = orphaned_locks()
    return {"orphaned_locks": count, "orphaned_first": orphaned_first() if count else []}


def present(now: datetime) -> dict[str, Any]:
    """Return Redis and every process, which is all that `doctor` needs."""
    leases = list(Lease.objects.order_by("role")[:500])
    processes = _processes([lease for lease in leases if "/" in lease.role], now)
    return {
        "redis": redis_health().as_dict(),
        "processes": processes,
        "restarts": _restarts(leases),
        "curator": _curator(leases, processes, now),
    }


def _processes(leases: list[Lease], now: datetime) -> list[dict[str, Any]]:
    """Return each process, a worker with the job that it runs."""
    runs = running_at(lease.holder for lease in leases if lease.role.startswith(WORKER))
    return [{**_process(lease, now), "runs": runs.get(lease.holder)} for lease in leases]


def _process(lease: Lease, now: datetime) -> dict[str, Any]:
    kind, _, name = lease.role.partition("/")
    return {
        "kind": kind,
        "name": name,
        "holder": lease.holder,
        "state": state_of(lease, now),
        "since": lease.acquired_at,
        "heartbeat_age_seconds": age(lease.renewed_at, now),
        "starts": lease.token,
        "instance": lease.facts.get("instance"),
        "facts": lease.facts,
    }


def state_of(lease: Lease, now: datetime) -> str:
    """Return running, silent (its lease ran out) or stopped (it left cleanly)."""
    if not lease.holder:
        return "stopped"
    return "running" if lease.expires_at and lease.expires_at > now else "silent"


def age(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, (now - moment).total_seconds())


def _restarts(leases: list[Lease]) -> list[dict[str, Any]]:
    """Count the restarts that supervisors report of their children, until they are stopped."""
    supervisors = [each for each in leases if each.role.startswith("supervisor/") and each.holder]
    return [child for lease in supervisors for child in lease.facts.get("children", [])]


def _curator(leases: list[Lease], processes: list[dict[str, Any]], now: datetime) -> dict[str, Any]:
    row = next((lease for lease in leases if lease.role == CURATOR), None)
    active = row if row and state_of(row, now) == "running" else None
    name = active.facts.get("name") if active else None
    running = [p["name"] for p in processes if p["kind"] == "curator" and p["state"] == "running"]
    return {
        "active": name,
        "epoch": active.token if active else None,
        "since": active.acquired_at if active else None,
        "heartbeat_age_seconds": age(active.renewed_at, now) if active else None,
        "standbys": [each for each in running if each != name],
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "id": event.pk,
        "at": event.at,
        "actor": event.actor,
        "channel": event.channel,
        "kind": event.kind,
        "subject": event.subject,
        "facts": event.shown_facts,
    }


def attention(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    """Return errors first, then warnings, from the snapshot: no curator need run."""
    return [
        {
            "level": each.severity,
            "title": each.title,
            "detail": each.detail,
            "command": runnable(each.command),
            "screen": screen_of(each.kind, each.subject),
            "kind": each.kind,
            "subject": each.subject,
            "cure": each.cure.stored() if each.cure else {},
            "affected": each.affected,
            "since": each.since,
        }
        for each in symptoms(snapshot)
        if each.severity in LEVELS
    ]
