"""Flows of a queue: find or make the one that a job waits in, and wake those that may start."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.database import dialect, execute, execute_each_in_turn, listed
from atributo_site.core.models.clock import from_now
from atributo_site.core.retry import retry_busy
from queues.flow.sql import statements as sql
from queues.models import Catalogue, Flow, Gate, Queue, Script

USED_SECONDS = 3600  # a flow is noted as used at most once in so long
MOST_WOKEN = 1000
MOST_STRAYS = 500  # that are moved at once


def script_gate(mount: str, script: str) -> str:
    return f"script {mount}/{script}"


def ensure_gate(queue_id: int) -> None:
    """Let flow control decide about this queue from now on; pushes by memory look again."""
    if Gate.objects.filter(queue_id=queue_id).exists():
        return
    gate = Gate(name=f"queue {queue_id}", queue_id=queue_id)
    with atomic():
        Gate.objects.bulk_create([gate], ignore_conflicts=True)
        Catalogue.objects.changed()


def ensure(queue_id: int, key: str, mount: str, script: str, station: str = "") -> int:
    """Return the flow of these jobs; it is not deleted within the next day."""
    ensure_gate(queue_id)
    named = {"queue_id": queue_id, "key": key, "mount": mount, "script": script}
    named["station"] = station
    rows = Flow.objects.filter(**named)
    fresh = rows.filter(used_at__gt=from_now(-USED_SECONDS)).values_list("pk", flat=True).first()
    if fresh is not None:
        return fresh
    if not rows.update(used_at=Now()):
        Flow.objects.bulk_create([Flow(**named)], ignore_conflicts=True)
    return rows.values_list("pk", flat=True).get()


def wake(
    queue_id: int, flow_ids: Iterable[int], *, ended: bool = False, least: int | None = None
) -> Counter[str]:
    """Make flows ready whose jobs may start now; return how many there are at each station.

    Where jobs have `ended`, limits may have room again: the gate opens, and the other flows of the
    same keys are looked at, too. If the jobs that wait again have no better rank than `least`, a
    flow that is ready with it stays as it is.
    """
    ids = sorted(set(flow_ids))
    woken, is_beyond = retry_busy(partial(_wake, queue_id, ids, ended, least), repeatable=True)
    for other, beyond in (_beyond(ids) if ended and is_beyond else {}).items():
        retry_busy(partial(_wake, other, beyond, True), repeatable=True)
    return woken


def _wake(
    queue_id: int, ids: list[int], ended: bool, least: int | None = None
) -> tuple[Counter[str], bool]:
    """Return also whether a script has limits, which count the jobs of other queues, too."""
    d = dialect()
    if ended:
        settled = sql.settle_after_ends(d, only_idle=least is not None)
    else:
        settled = sql.settle_in_queue(d)
    opened = sql.OPEN_GATE if ended else sql.OPEN_FOR_OTHERS
    asked = {"queue_id": queue_id, "ids": listed(ids), "least": least}
    gate, flows, _, limited = execute_each_in_turn(
        [[sql.lock_gate(d), settled, opened, sql.HAS_LIMITED_SCRIPTS]], asked
    )
    if not gate.rows:
        return Counter(), False
    ready = Counter(station for _, rank, station in flows.rows if rank is not None)
    return ready, bool(limited.rows)


def settle(ids: Sequence[int], time: float) -> list[Any]:
    """Write which flows are ready; the gate is locked, and this is its virtual time."""
    if not ids:
        return []
    return execute(sql.settle(dialect()), {"ids": listed(ids), "time": time}).rows


def _beyond(ids: list[int]) -> dict[int, list[int]]:
    """Return by queue the flows elsewhere that may wait for the same limit of a script."""
    d = dialect()
    found: dict[int, list[int]] = {}
    with atomic():  # whoever counts for a script has decided when this is ours
        names = [script_gate(*name) for name in limited_scripts()]
        execute(sql.lock_scripts(d), {"names": listed(names)})
        for flow_id, queue_id in execute(sql.of_same_scripts(d), {"ids": listed(ids)}).rows:
            found.setdefault(queue_id, []).append(flow_id)
        closed = Gate.objects.filter(closed_at__isnull=False, queue__isnull=False, is_whole=False)
        for queue_id in closed.values_list("queue_id", flat=True):
            found.setdefault(queue_id, [])
    return found


def adopt_strays(queue_id: int, station: str = "") -> int:
    """Let jobs wait in flows that were pushed before; return how many were found."""
    asked = {"queue_id": queue_id, "limit": MOST_STRAYS, "station": station}
    rows = execute((sql.strays_at if station else sql.strays)(dialect()), asked).rows
    by_flow: dict[tuple[str, str, str], list[int]] = {}
    for job_id, mount, script, key in rows:
        by_flow.setdefault((key, mount, script), []).append(job_id)
    for name, ids in by_flow.items():
        flow_id = ensure(queue_id, *name, station)
        moved = {"flow_id": flow_id, "ids": listed(ids), "station": station}
        execute(sql.adopt(dialect()), moved)
        wake(queue_id, [flow_id])
    return len(rows)


def limited_scripts() -> dict[tuple[str, str], Any]:
    """Return the limits of scripts that have some, by mount and name."""
    rows = Script.objects.filter(limits__isnull=False)
    named = rows.values_list("service__mount", "name", "limits")
    return {(mount, name): limits for mount, name, limits in named if limits}


def wake_all(queue_id: int) -> None:
    """Look at every flow that waits, after the limits of a queue have changed."""
    waiting = Flow.objects.filter(queue_id=queue_id).exclude(waits_for="")
    ids = list(waiting.values_list("pk", flat=True)[:MOST_WOKEN])
    wake(queue_id, ids, ended=True)  # the curator wakes the rest


def has_flow(queue: Queue) -> bool:
    return Gate.objects.filter(queue=queue).exists()
