"""The target age of a queue: how old its oldest due job may become before somebody looks."""

from typing import Any

from django.db.transaction import atomic

from allocation.events import record
from queues import catalogue
from queues.errors import BadQueue
from queues.models import Queue
from queues.models.queue import MOST_TARGET_AGE_SECONDS


def set_target_age(name: str, seconds: int | None, *, using: str = "default") -> bool:
    """None: the default of all queues. False when it was so already."""
    check(seconds)
    queue = catalogue.row(name, using=using)
    another = Queue.objects.using(using).filter(pk=queue.pk).exclude(target_age_seconds=seconds)
    with atomic(using=using):
        changed = another.update(target_age_seconds=seconds)
        if changed:
            record("queue.changed", f"queue:{name}", using=using, target_age_seconds=seconds)
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
