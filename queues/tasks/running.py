"""A task while it runs: `context.task_result`, and a context that is one of the API, too."""

from functools import cache
from importlib import import_module
from typing import Any

from django.utils import timezone

from atributo_site.core.models import Lease
from queues.models import QueuedJob
from queues.tasks.backend import AtributoBackend
from queues.tasks.library import library, part
from queues.tasks.results import of_job


def result_of_run(job: dict[str, Any]) -> Any:
    """Return it as running: the rows of a short job say so only when it has ended."""
    row = QueuedJob.objects.select_related("queue", "slot").get(pk=job["id"])
    return running(row, job["attempt"])


def running(row: QueuedJob, attempt: int) -> Any:
    """Return the result of a job whose attempt has begun; the row may not say so yet."""
    result = of_job(row, own_alias() or "default", AtributoBackend.task_class)
    if result.attempts < attempt:
        result.worker_ids.append(_worker(row))
        object.__setattr__(result, "last_attempted_at", timezone.now())
        object.__setattr__(result, "started_at", result.started_at or result.last_attempted_at)
    object.__setattr__(result, "status", part("base").TaskResultStatus["RUNNING"])
    return result


def own_alias() -> str | None:
    """Return the first backend that is ours."""
    backends = import_module(library()).task_backends
    return next((name for name in backends if isinstance(backends[name], AtributoBackend)), None)


def as_task_context(context: Any) -> Any:
    """Return the context of a run as a TaskContext, too."""
    kind: Any = type(context)
    known: Any = object.__new__(_context_class(kind))
    vars(known).update(vars(context))
    return known


@cache
def _context_class(ours: type) -> type:
    return type(f"Task{ours.__name__}", (ours, part("base").TaskContext), {})


def _worker(row: QueuedJob) -> str:
    holder = row.slot.holder if row.slot else ""
    held = Lease.objects.filter(role__startswith="worker/", holder=holder)
    role = held.values_list("role", flat=True).first()
    return role.removeprefix("worker/") if role else ""
