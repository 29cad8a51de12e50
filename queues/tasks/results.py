"""Results of the Tasks API from the rows of jobs and their attempts."""

import re
import sys
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from queues.errors import JobNotFound
from queues.functions.arguments import split_of
from queues.functions.declaration import Declared
from queues.functions.modules import find
from queues.jobs.handles import parsed_id
from queues.logic.lifecycle import ABORTED, Outcome, Status
from queues.logic.mounts import is_module
from queues.models import QueuedJob, Run
from queues.tasks.library import part
from queues.tasks.priorities import from_ours

STATUSES = {
    Status.PENDING: "READY",
    Status.PROGRESS: "RUNNING",
    Status.COMPLETE: "SUCCESSFUL",
    Status.FAILED: "FAILED",
}
LAST_LINE = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)")
UNKNOWN = "builtins.Exception"
TIMED_OUT = "builtins.TimeoutError"
CANCELLED = "asyncio.exceptions.CancelledError"
MOST_ATTEMPTS = 1000


def new(task: Any, args: list[Any], kwargs: dict[str, Any], alias: str) -> Any:
    """Return the result of a task that is about to be enqueued; TypeError for what is no JSON."""
    try:
        return _result(task, "", "READY", args, kwargs, alias)
    except RecursionError as error:
        raise TypeError("arguments must be JSON: these contain themselves") from error


def stored(result_id: str, alias: str, task_class: type[Any]) -> Any:
    """Return the result of a job as it is now."""
    jobs = QueuedJob.objects.visible().select_related("queue")
    job = jobs.filter(pk=parsed_id(result_id)).first()
    if job is None or not is_module(job.mount):
        raise JobNotFound(f"there is no task {result_id}", job=result_id)
    return of_job(job, alias, task_class)


def enqueued_at(result_id: str) -> datetime | None:
    """Return the moment of the row; None for a push that waits for its transaction."""
    moments = QueuedJob.objects.filter(pk=int(result_id)).values_list("created_at", flat=True)
    return moments.first()


def of_job(job: QueuedJob, alias: str, task_class: type[Any]) -> Any:
    known = find(job.mount, job.script)
    args, kwargs = split_of(known, job.data)
    task = _task(task_class, known, job, alias)
    attempts = list(Run.objects.filter(job=job).order_by("-attempt")[:MOST_ATTEMPTS])[::-1]
    result = _result(task, str(job.pk), STATUSES[Status(job.status)], args, kwargs, alias)
    facts = {
        "enqueued_at": job.created_at,
        "started_at": attempts[0].started_at if attempts else None,
        "last_attempted_at": attempts[-1].started_at if attempts else None,
        "finished_at": job.ended_at,
        "errors": _errors(job, attempts),
        "worker_ids": [each.worker for each in attempts],
        "_return_value": job.result,
    }
    for name, value in facts.items():
        object.__setattr__(result, name, value)
    return result


def _result(
    task: Any, result_id: str, status: str, args: list[Any], kwargs: dict[str, Any], alias: str
) -> Any:
    base = part("base")
    return base.TaskResult(
        task=task,
        id=result_id,
        status=base.TaskResultStatus[status],
        enqueued_at=None,
        started_at=None,
        finished_at=None,
        last_attempted_at=None,
        args=args,
        kwargs=kwargs,
        backend=alias,
        errors=[],
        worker_ids=[],
    )


def _task(task_class: type[Any], known: Declared, job: QueuedJob, alias: str) -> Any:
    """Return the task that was enqueued; its queue may not be one of the backend any more."""
    task = object.__new__(task_class)
    values = {each.name: each.default for each in fields(task_class)}
    values |= {name: value for name, value in known.options.items() if name in values}
    values |= {
        "func": known.function,
        "run_after": None,
        "priority": from_ours(job.priority),
        "backend": alias,
        "queue_name": job.queue.name,
        "takes_context": known.takes_context,
        "sticky_key": job.sticky_key,
        "unique_key": job.unique_key,
    }
    for name, value in values.items():
        object.__setattr__(task, name, value)
    return task


def _errors(job: QueuedJob, attempts: Sequence[Run]) -> list[Any]:
    failed = [each for each in attempts if each.outcome == Outcome.FAILED]
    errors = [error_of(each.error, each.traceback) for each in failed]
    return [*errors, error_of(ABORTED, "")] if job.aborted_at else errors


def error_of(error: str, traceback: str) -> Any:
    """Return the error of a failed attempt."""
    return part("base").TaskError(
        exception_class_path=class_path(error, traceback), traceback=traceback or error
    )


def class_path(error: str, traceback: str) -> str:
    """Return the path of an exception that this process knows.

    The API imports what stands here, so no module that is not loaded is named.
    """
    if error == ABORTED:
        return CANCELLED
    if error.startswith(("timed out", "TimedOut: timed out")):
        return TIMED_OUT
    found = [match[1] for line in traceback.splitlines() if (match := LAST_LINE.match(line))]
    module, _, name = (found[-1] if found else "").rpartition(".")
    known = getattr(sys.modules.get(module or "builtins"), name, None)
    is_error = isinstance(known, type) and issubclass(known, BaseException)
    return f"{module or 'builtins'}.{name}" if is_error else UNKNOWN
