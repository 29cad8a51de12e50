"""Queued jobs, their attempts, and operations on many of them."""

import builtins
from typing import Literal, Unpack

from atributo_client.failures import JobFailed, NotYet
from atributo_client.generated import answers, bodies, queries
from atributo_client.generated.errors import JobNotFound
from atributo_client.operation import Group, S, operation
from atributo_client.steps import Flow, PageOf, Pause, ask, page, part

FIRST_LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.05, 2.0


class Jobs(Group[S]):
    @operation("jobs_list")
    def list(self, **filters: Unpack[queries.JobsListQuery]) -> Flow[PageOf[answers.QueuedJob]]:
        return page("jobs", filters)

    @operation("jobs_get")
    def get(self, job_id: str) -> Flow[answers.QueuedJob]:
        return ask("GET", f"jobs/{part(job_id)}")

    @operation("jobs_reschedule")
    def reschedule(
        self, job_id: str, **changes: Unpack[bodies.ScheduleChanges]
    ) -> Flow[answers.QueuedJob]:
        return ask("PATCH", f"jobs/{part(job_id)}", changes)

    @operation("jobs_delete")
    def delete(self, job_id: str) -> Flow[None]:
        return ask("DELETE", f"jobs/{part(job_id)}")

    @operation("jobs_abort")
    def abort(self, job_id: str, reason: str = "") -> Flow[answers.QueuedJob]:
        return ask("POST", f"jobs/{part(job_id)}/abort", {"reason": reason})

    @operation("jobs_attempts")
    def attempts(self, job_id: str) -> Flow[builtins.list[answers.Attempt]]:
        return ask("GET", f"jobs/{part(job_id)}/attempts")

    @operation("jobs_links")
    def links(self, job_id: str) -> Flow[answers.JobLinks]:
        """Return the jobs that it waits for, and those that wait for it."""
        return ask("GET", f"jobs/{part(job_id)}/links")

    @operation("jobs_pause")
    def pause(self, job_id: str, reason: str = "") -> Flow[answers.QueuedJob]:
        return ask("POST", f"jobs/{part(job_id)}/pause", {"reason": reason})

    @operation("jobs_resume")
    def resume(self, job_id: str) -> Flow[answers.QueuedJob]:
        return ask("POST", f"jobs/{part(job_id)}/resume")

    @operation("jobs_retry")
    def retry(self, job_id: str) -> Flow[answers.QueuedJob]:
        return ask("POST", f"jobs/{part(job_id)}/retry")

    @operation("jobs_run_now")
    def run_now(self, job_id: str) -> Flow[answers.QueuedJob]:
        return ask("POST", f"jobs/{part(job_id)}/run")

    @operation()
    def wait(
        self, job_id: str, *, timeout_seconds: float = 60.0, may_appear: bool = False
    ) -> Flow[answers.QueuedJob]:
        """Return the job when it is complete; raise JobFailed, or NotYet when the time is over.

        `may_appear` is for a push of a transaction: its job is not there at once.
        """
        return wait(job_id, timeout_seconds, may_appear)


def wait(job_id: str, timeout_seconds: float, may_appear: bool = False) -> Flow[answers.QueuedJob]:
    """Look, ever less often; the sum of the pauses is the time."""
    waited, pause = 0.0, FIRST_LOOK_SECONDS
    while True:
        job = yield from _look(job_id, may_appear and waited < timeout_seconds)
        if job is not None and job["status"] == "complete":
            return job
        if waited >= timeout_seconds:
            state = job["status"] if job is not None else "missing"
            raise NotYet(f"job {job_id} is {state} after {timeout_seconds:g} s", job=job)
        pause = min(pause, timeout_seconds - waited)
        yield Pause(pause)
        waited, pause = waited + pause, min(pause * 2, LONGEST_LOOK_SECONDS)


def _look(job_id: str, may_be_missing: bool) -> Flow[answers.QueuedJob | None]:
    try:
        job: answers.QueuedJob = yield from ask("GET", f"jobs/{part(job_id)}")
    except JobNotFound:
        if may_be_missing:
            return None
        raise
    if job["status"] == "failed":
        raise JobFailed(f"job {job_id} failed: {job['error'] or 'no reason'}", job=job)
    return job


class Batches(Group[S]):
    """Jobs that belong together, and what is called once when all of them have ended."""

    @operation("batches_list")
    def list(self, **filters: Unpack[queries.BatchesListQuery]) -> Flow[PageOf[answers.JobBatch]]:
        return page("batches", filters)

    @operation("batches_push")
    def push(self, queue: str, **options: Unpack[bodies.BatchOptions]) -> Flow[answers.NewBatchId]:
        """Push a batch with all of its `jobs`, or none; without them, open one."""
        return ask("POST", "batches", {"queue": queue, **options})

    @operation("batches_get")
    def get(self, batch_id: str) -> Flow[answers.JobBatch]:
        return ask("GET", f"batches/{part(batch_id)}")

    @operation("batches_close")
    def close(self, batch_id: str) -> Flow[answers.JobBatch]:
        return ask("POST", f"batches/{part(batch_id)}/close")

    @operation("batches_retry")
    def retry(self, batch_id: str) -> Flow[answers.ChangedBatch]:
        """Start its failed jobs over."""
        return ask("POST", f"batches/{part(batch_id)}/retry")

    @operation("batches_abort")
    def abort(self, batch_id: str, reason: str = "") -> Flow[answers.ChangedBatch]:
        """Abort its jobs that have not ended, and close it."""
        return ask("POST", f"batches/{part(batch_id)}/abort", {"reason": reason})


class Operations(Group[S]):
    """One action on all jobs that a query finds."""

    @operation("operations_list")
    def list(
        self, **filters: Unpack[queries.OperationsListQuery]
    ) -> Flow[PageOf[answers.JobOperation]]:
        return page("operations", filters)

    @operation("operations_start")
    def start(
        self,
        action: Literal["retry", "abort", "delete"],
        query: bodies.Query,
        **options: Unpack[bodies.OperationOptions],
    ) -> Flow[answers.JobOperation]:
        return ask("POST", "operations", {"action": action, "query": query, **options})

    @operation("operations_get")
    def get(self, operation_id: int) -> Flow[answers.OneJobOperation]:
        return ask("GET", f"operations/{operation_id:d}")

    @operation("operations_abort")
    def abort(self, operation_id: int) -> Flow[answers.OneJobOperation]:
        return ask("POST", f"operations/{operation_id:d}/abort")
