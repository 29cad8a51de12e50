"""Queues by name: create, get, delete, pause, resume."""

from typing import Any

from django.db.models.functions import Now
from django.db.transaction import atomic

from allocation.after_commit import after_commit
from allocation.events import current_actor, record
from queues.errors import BadQueue, QueueNotFound
from queues.handles import QueueHandle
from queues.held import wait_for_workers
from queues.logic.away import WhenAway
from queues.logic.storable import is_storable
from queues.models import Queue, QueuedJob
from queues.models.queue import MOST_WORKERS
from queues.station_work import ring_queue

DEFAULT = "default"
LONGEST_NAME = 255
MOST_AWAY_SECONDS = 365 * 86_400
MOST_DAYS = 36_500


def create(name: str, max_workers: int | None = None, *, using: str = "default") -> QueueHandle:
    """Make a queue, or change how many of its jobs may run at once if that is given."""
    _check(name, max_workers)
    queues = Queue.objects.using(using)
    with atomic(using=using):
        queue, made = queues.get_or_create(name=name, defaults={"max_workers": max_workers or 1})
        made = made or queues.filter(pk=queue.pk).revive(max_workers or 1)
        queue.refresh_from_db()
        changes = {} if made else _changes(queue, max_workers)
        if changes:
            queues.filter(pk=queue.pk).update(**changes)
            queue.refresh_from_db()
        queue.add_slots()
        if made or changes:
            kind = "queue.created" if made else "queue.changed"
            record(kind, f"queue:{name}", using=using, max_workers=queue.max_workers)
        if changes:
            wait_for_slots(queue)
    after_commit(lambda: ring_due(queue, using), using=using)
    return QueueHandle(name, using=using)


def get(name: str, *, using: str = "default") -> QueueHandle:
    row(name, using=using)
    return QueueHandle(name, using=using)


def delete(name: str, *, using: str = "default") -> bool:
    """Its jobs stay and wait; create it again and they run."""
    if name == DEFAULT:
        raise BadQueue(f"the queue {DEFAULT} always exists; pause it to stop it")
    if not _may_exist(name):
        return False
    with atomic(using=using):
        queues = Queue.objects.using(using).existing().filter(name=name)
        deleted = queues.update(deleted_at=Now()) == 1
        if deleted:
            record("queue.deleted", f"queue:{name}", using=using)
            wait_for_slots(Queue.objects.using(using).get(name=name))
    return deleted


def pause(name: str, *, using: str = "default") -> bool:
    """No further job starts; running ones finish. False when it was paused already."""
    changes = {"paused_at": Now(), "paused_by": current_actor().name}
    return _switch(name, "queue.paused", {"paused_at": None}, changes, using)


def resume(name: str, *, using: str = "default") -> bool:
    changes = {"paused_at": None, "paused_by": ""}
    queue = row(name, using=using)  # before the write, which an error would deny
    resumed = _switch(name, "queue.resumed", {"paused_at__isnull": False}, changes, using)
    after_commit(lambda: ring_due(queue, using), using=using)
    return resumed


def set_retention(name: str, days: int, *, using: str = "default") -> None:
    """How long finished jobs of this queue are kept."""
    queue = row(name, using=using)
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
        raise BadQueue(f"retention_days must be a whole number from 1 to {MOST_DAYS}")
    with atomic(using=using):
        Queue.objects.using(using).filter(pk=queue.pk).update(retention_days=days)
        record("queue.changed", f"queue:{name}", using=using, retention_days=days)


def set_record_start(name: str, on: bool, *, using: str = "default") -> None:
    """Whether every start is in the database before a job of this queue begins."""
    queue = row(name, using=using)
    if not isinstance(on, bool):
        raise BadQueue("record_start must be true or false")
    with atomic(using=using):
        Queue.objects.using(using).filter(pk=queue.pk).update(record_start=on)
        record("queue.changed", f"queue:{name}", using=using, record_start=on)


def set_when_away(
    name: str, policy: str | None, seconds: int | None, *, using: str = "default"
) -> None:
    """What sticky jobs do when no worker serves their instance, and after how long."""
    queue = row(name, using=using)
    given = {"when_away": policy, "away_seconds": seconds}
    changes = {field: value for field, value in given.items() if value is not None}
    _check_away(policy, seconds)
    with atomic(using=using):
        Queue.objects.using(using).filter(pk=queue.pk).update(**changes)
        record("queue.changed", f"queue:{name}", using=using, **changes)


def row(name: str, *, using: str = "default") -> Queue:
    """The queue called `default` always exists."""
    rows = Queue.objects.using(using).existing()
    found = rows.filter(name=name).first() if _may_exist(name) else None
    if found is None and name == DEFAULT:
        create(name, using=using)
        return Queue.objects.using(using).get(name=name)
    if found is None:
        raise QueueNotFound(f"Queue does not exist: {name}", queue=name)
    return found


def _switch(
    name: str, kind: str, condition: dict[str, Any], changes: dict[str, Any], using: str
) -> bool:
    queue = row(name, using=using)
    with atomic(using=using):
        changed = Queue.objects.using(using).filter(pk=queue.pk, **condition).update(**changes)
        if changed:
            record(kind, f"queue:{name}", using=using)
            wait_for_slots(Queue.objects.using(using).get(pk=queue.pk))
    return changed == 1


def _changes(queue: Queue, max_workers: int | None) -> dict[str, Any]:
    if max_workers is None or max_workers == queue.max_workers:
        return {}
    return {"max_workers": max_workers}


def _may_exist(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and is_storable(name)


def _check(name: Any, max_workers: Any) -> None:
    if not _may_exist(name):
        raise BadQueue(f"a queue's name has 1 to {LONGEST_NAME} characters")
    if max_workers is None:
        return
    if isinstance(max_workers, bool) or not isinstance(max_workers, int):
        raise BadQueue("max_workers must be a whole number")
    if not 1 <= max_workers <= MOST_WORKERS:
        raise BadQueue(f"max_workers must be from 1 to {MOST_WORKERS}; pause the queue to stop it")


def _check_away(policy: Any, seconds: Any) -> None:
    if policy is not None and policy not in list(WhenAway):
        raise BadQueue(f"when_away must be one of {', '.join(WhenAway)}")
    if seconds is None:
        return
    if not isinstance(seconds, int) or not 0 <= seconds <= MOST_AWAY_SECONDS:
        raise BadQueue(f"away_seconds must be a whole number from 0 to {MOST_AWAY_SECONDS}")


def wait_for_slots(queue: Queue) -> None:
    """Once this is committed: let workers finish what they reserved and may not begin now."""
    jobs = QueuedJob.objects.using(queue._state.db).filter(slot__queue=queue)
    if not queue.paused and queue.deleted_at is None:
        jobs = jobs.filter(slot__number__gte=queue.max_workers)
    after_commit(lambda: wait_for_workers(jobs), using=queue._state.db or "default")


def ring_due(queue: Queue, using: str) -> None:
    ring_queue(queue.pk, queue.name, queue.max_workers, using=using)
