"""Queues by name: create, get, delete, pause, resume, scale, and change their settings."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db.models import F
from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.after_commit import after_commit
from atributo_site.core.database import execute
from atributo_site.core.events import current_actor, record
from atributo_site.core.models.clock import database_now
from queues.errors import BadQueue, QueueNotFound
from queues.flow import flows
from queues.flow.forecast import forecast, said
from queues.jobs.handles import QueueHandle
from queues.logic.absence import WhenAway
from queues.logic.flow.limits import BadLimit, parsed, stored
from queues.logic.flow.limits import weights as weights_of
from queues.logic.storable import is_storable
from queues.models import Queue, QueuedJob
from queues.models.queue import MOST_TARGET_AGE_SECONDS, MOST_WORKERS
from queues.runs.held_jobs import wait_for_workers
from queues.runs.stations import ring_queue
from queues.sql.queues import MAKE

DEFAULT = "default"
LONGEST_NAME = 255
MOST_AWAY_SECONDS = 365 * 86_400
MOST_DAYS = 36_500


def create(name: str, max_workers: int | None = None) -> QueueHandle:
    """Make a queue, or change how many of its jobs may run at once if that is given."""
    _check(name, max_workers)
    with atomic():
        new = _made(name, max_workers or 1)
        if new is None:
            _revive_or_change(name, max_workers)
        else:  # nobody can have pushed to it yet, so there is nothing to ring for
            new.add_slots()
            record("queue.created", f"queue:{name}", max_workers=new.max_workers)
    return QueueHandle(name)


def _made(name: str, max_workers: int) -> Queue | None:
    """Return the new queue; None when there is one of this name already, deleted or not."""
    new = Queue(name=name, max_workers=max_workers)
    columns = ("name", "max_workers", "retention_days", "when_away", "away_seconds")
    stored = execute(MAKE, {column: getattr(new, column) for column in columns}).first
    if stored is None:
        return None
    new.pk = stored[0]
    return new


def _revive_or_change(name: str, max_workers: int | None) -> None:
    queues = Queue.objects
    queue = queues.get(name=name)
    made = queues.filter(pk=queue.pk).revive(max_workers or 1)
    queue.refresh_from_db()
    changes = {} if made else _changes(queue, max_workers)
    if changes:
        queues.filter(pk=queue.pk).update(**changes)
        queue.refresh_from_db()
    queue.add_slots()
    if made or changes:
        kind = "queue.created" if made else "queue.changed"
        record(kind, f"queue:{name}", max_workers=queue.max_workers)
    if changes:
        wait_for_slots(queue)
    after_commit(lambda: ring_due(queue))


def get(name: str) -> QueueHandle:
    row(name)
    return QueueHandle(name)


def delete(name: str) -> bool:
    """Delete a queue; its jobs stay and wait until it is made again."""
    if name == DEFAULT:
        raise BadQueue(f"the queue {DEFAULT} always exists; pause it to stop it")
    if not _may_exist(name):
        return False
    with atomic():
        queues = Queue.objects.existing().filter(name=name)
        deleted = queues.update(deleted_at=Now()) == 1
        if deleted:
            record("queue.deleted", f"queue:{name}")
            wait_for_slots(Queue.objects.get(name=name))
    return deleted


def pause(name: str) -> bool:
    """Start no further job; running ones finish. False when it was paused already."""
    changes = {"paused_at": Now(), "paused_by": current_actor().name}
    return _switch(name, "queue.paused", {"paused_at": None}, changes)


def resume(name: str) -> bool:
    changes = {"paused_at": None, "paused_by": ""}
    queue = row(name)  # before the write, which an error would deny
    resumed = _switch(name, "queue.resumed", {"paused_at__isnull": False}, changes)
    after_commit(lambda: ring_due(queue))
    return resumed


def set_retention(name: str, days: int) -> None:
    """Set how long finished jobs of this queue are kept."""
    queue = row(name)
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
        raise BadQueue(f"retention_days must be a whole number from 1 to {MOST_DAYS}")
    with atomic():
        Queue.objects.filter(pk=queue.pk).update(retention_days=days)
        record("queue.changed", f"queue:{name}", retention_days=days)


def set_record_start(name: str, on: bool) -> None:
    """Set whether every start is in the database before a job of this queue begins."""
    queue = row(name)
    if not isinstance(on, bool):
        raise BadQueue("record_start must be true or false")
    with atomic():
        Queue.objects.filter(pk=queue.pk).update(record_start=on)
        record("queue.changed", f"queue:{name}", record_start=on)


def set_limits(name: str, limits: Any) -> bool:
    """Set how many jobs run at once and how many start in a span; None or [] ends all limits.

    What waits already waits for the new limits. False when nothing changed.
    """
    return _set_flow(name, "limits", limits, lambda given: stored(parsed(given)))


def what_if(name: str, limits: Any) -> dict[str, Any]:
    """Estimate when the backlog of a queue ends: with its limits now, and with these."""
    queue, now = row(name), database_now()
    try:
        wanted = parsed(limits)
    except BadLimit as error:
        raise BadQueue(str(error)) from error
    ends = {"now": forecast(queue, now), "then": forecast(queue, now, wanted)}
    return {when: {**end, "said": said(end)} for when, end in ends.items()}


def set_weights(name: str, weights: Any) -> bool:
    """Set how many times the share of others some flow keys get; None or {} makes all equal."""
    return _set_flow(name, "weights", weights, lambda given: weights_of(given) or None)


def _set_flow(name: str, field: str, given: Any, read: Callable[[Any], Any]) -> bool:
    queue = row(name)
    try:
        value = read(given)
    except BadLimit as error:
        raise BadQueue(str(error)) from error
    with atomic():
        now = Queue.objects.select_for_update().get(pk=queue.pk)
        if getattr(now, field) == value:
            return False
        flows.ensure_gate(queue.pk)
        Queue.objects.filter(pk=queue.pk).update(**{field: value, "limits_at": Now()})
        record("queue.changed", f"queue:{name}", **{field: value})
    after_commit(partial(_look_again, queue))
    return True


def _look_again(queue: Queue) -> None:
    flows.wake_all(queue.pk)
    ring_due(queue)


def set_when_away(name: str, policy: str | None, seconds: int | None) -> None:
    """Set what sticky jobs do when no worker serves their instance, and after how long."""
    queue = row(name)
    given: dict[str, Any] = {"when_away": policy, "away_seconds": seconds}
    changes = {field: value for field, value in given.items() if value is not None}
    _check_away(policy, seconds)
    with atomic():
        Queue.objects.filter(pk=queue.pk).update(**changes)
        record("queue.changed", f"queue:{name}", **changes)


def row(name: str) -> Queue:
    """Return a queue; the one called `default` always exists."""
    rows = Queue.objects.existing()
    queue = rows.filter(name=name).first() if _may_exist(name) else None
    if queue is None and name == DEFAULT:
        create(name)
        return Queue.objects.get(name=name)
    if queue is None:
        raise QueueNotFound(f"Queue does not exist: {name}", queue=name)
    return queue


def _switch(name: str, kind: str, condition: dict[str, Any], changes: dict[str, Any]) -> bool:
    queue = row(name)
    with atomic():
        changed = Queue.objects.filter(pk=queue.pk, **condition).update(**changes)
        if changed:
            record(kind, f"queue:{name}")
            wait_for_slots(Queue.objects.get(pk=queue.pk))
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
    """After this commits, let workers finish what they reserved and may not begin now."""
    jobs = QueuedJob.objects.filter(slot__queue=queue)
    if not queue.paused and queue.deleted_at is None:
        jobs = jobs.filter(slot__number__gte=queue.max_workers)
    after_commit(lambda: wait_for_workers(jobs))


def ring_due(queue: Queue) -> None:
    ring_queue(queue.pk, queue.name, queue.max_workers)


def running() -> Any:
    """Return the queues that pausing all would change."""
    return Queue.objects.active().order_by("name")


def paused() -> Any:
    """Return the queues that resuming all would change, whoever paused them."""
    rows = Queue.objects.existing()
    return rows.filter(paused_at__isnull=False).order_by("name")


def pause_all() -> list[str]:
    """Pause all queues, with an event each; return the names of those that were changed."""
    return _changed(pause, running())


def resume_all() -> list[str]:
    """Resume all queues, with an event each; return the names of those that were changed."""
    return _changed(resume, paused())


def _changed(switch: Callable[..., bool], rows: Any) -> list[str]:
    names = list(rows.values_list("name", flat=True))
    return [name for name in names if _is_changed(switch, name)]


def _is_changed(switch: Callable[..., bool], name: str) -> bool:
    try:
        return switch(name)
    except QueueNotFound:  # it was deleted meanwhile
        return False


def scale_by(name: str, step: int) -> int | None:
    """Run so many jobs more or fewer at once, beside others who scale it at the same moment.

    Return how many may run now; None when that would be none at all, or too many.
    """
    before = row(name)
    room = Queue.objects.existing().filter(pk=before.pk)
    room = room.filter(max_workers__range=(1 - step, MOST_WORKERS - step))
    with atomic():
        if not room.update(max_workers=F("max_workers") + step):
            return None
        queue = Queue.objects.get(pk=before.pk)  # ours until we commit
        queue.add_slots()
        record("queue.changed", f"queue:{name}", max_workers=queue.max_workers)
        wait_for_slots(queue)
    after_commit(lambda: ring_due(queue))
    return queue.max_workers


def set_target_age(name: str, seconds: int | None) -> bool:
    """Set how old its oldest due job may become; None is the default. False when unchanged."""
    check(seconds)
    queue = row(name)
    another = Queue.objects.filter(pk=queue.pk).exclude(target_age_seconds=seconds)
    with atomic():
        changed = another.update(target_age_seconds=seconds)
        if changed:
            record("queue.changed", f"queue:{name}", target_age_seconds=seconds)
    return changed == 1


def check(seconds: Any) -> None:
    if seconds is None:
        return
    is_whole = isinstance(seconds, int) and not isinstance(seconds, bool)
    if not is_whole or not 1 <= seconds <= MOST_TARGET_AGE_SECONDS:
        raise BadQueue(
            f"target_age_seconds must be a whole number from 1 to {MOST_TARGET_AGE_SECONDS}, "
            "or nothing for the default"
        )
