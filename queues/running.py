"""What runs now, by the process that runs it."""

from collections.abc import Iterable
from typing import Any

from queues.job_states import INDEXED
from queues.models import QueuedJob

NOBODY = "-"  # asks for nothing, so that it is always one query
COLUMNS = ("slot__holder", "pk", "queue__name", "mount", "script", "started_at")


def running_at(holders: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Holder of a slot → its job, for all at once; a worker runs one at a time."""
    running = QueuedJob.objects.extra(where=[INDEXED["running"]])
    rows = running.filter(slot__holder__in=list(holders) or [NOBODY]).order_by()
    return {holder: _facts(*columns) for holder, *columns in rows.values_list(*COLUMNS)}


def _facts(pk: int, queue: str, mount: str, script: str, since: Any) -> dict[str, Any]:
    return {"job_id": str(pk), "queue": queue, "script": f"{mount}/{script}", "since": since}
