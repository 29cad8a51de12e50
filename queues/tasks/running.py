"""The result of a task while it runs, for `context.task_result`."""

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
    result = of_job(row, _alias(), AtributoBackend.task_class)
    if result.attempts < job["attempt"]:
        result.worker_ids.append(_worker(row))
        object.__setattr__(result, "last_attempted_at", timezone.now())
        object.__setattr__(result, "started_at", result.started_at or result.last_attempted_at)
    object.__setattr__(result, "status", part("base").TaskResultStatus["RUNNING"])
    return result


def _alias() -> str:
    """Return the first backend that is ours."""
    backends = import_module(library()).task_backends
    aliases = [alias for alias in backends if isinstance(backends[alias], AtributoBackend)]
    return aliases[0] if aliases else "default"


def _worker(row: QueuedJob) -> str:
    holder = row.slot.holder if row.slot else ""
    held = Lease.objects.filter(role__startswith="worker/", holder=holder)
    role = held.values_list("role", flat=True).first()
    return role.removeprefix("worker/") if role else ""
