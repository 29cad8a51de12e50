"""Every queue at once: which would change, pause them, let them run again."""

from collections.abc import Callable
from typing import Any

from queues import catalogue
from queues.errors import QueueNotFound
from queues.models import Queue


def running(*, using: str = "default") -> Any:
    """The queues that a pause of all would change."""
    return Queue.objects.using(using).active().order_by("name")


def paused(*, using: str = "default") -> Any:
    """Those that would run again, whoever paused them."""
    rows = Queue.objects.using(using).existing()
    return rows.filter(paused_at__isnull=False).order_by("name")


def pause_all(*, using: str = "default") -> list[str]:
    """The names of those that were changed, each with an event of its own."""
    return _changed(catalogue.pause, running(using=using), using)


def resume_all(*, using: str = "default") -> list[str]:
    """The names of those that were changed, each with an event of its own."""
    return _changed(catalogue.resume, paused(using=using), using)


def _changed(switch: Callable[..., bool], rows: Any, using: str) -> list[str]:
    names = list(rows.values_list("name", flat=True))
    return [name for name in names if _is_changed(switch, name, using)]


def _is_changed(switch: Callable[..., bool], name: str, using: str) -> bool:
    try:
        return switch(name, using=using)
    except QueueNotFound:  # it was deleted meanwhile
        return False
