"""The handles that `queues.create` and `queue.get` return: they read live, and are no models."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet, Subquery

from allocation.transactions.engine.transaction import Transaction
from atributo_site.core.database import execute
from atributo_site.core.models.clock import database_now
from queues.errors import BadPage, BadPush, InvalidJobId, JobNotFound, QueueNotFound
from queues.functions.declaration import bare
from queues.functions.modules import to_push
from queues.jobs import actions, batches, push, repeating
from queues.jobs.batch_blocks import Block
from queues.jobs.calls import called, called_often
from queues.logic.lifecycle import ABORTED, EXPIRED, Outcome, Status
from queues.models import Batch, Queue, QueuedJob, Run
from queues.queries.batches import counts_of
from queues.queries.states import job_state
from queues.runs import outbox
from queues.sql.lists import pending_page


class QueueHandle:
    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueueHandle) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<queue {self.name}>"

    @property
    def max_workers(self) -> int:
        row = Queue.objects.existing().filter(name=self.name).first()
        if row is None:
            raise QueueNotFound(f"Queue does not exist: {self.name}", queue=self.name)
        return row.max_workers

    def push(
        self,
        script: Any,
        *arguments: Any,
        transaction: Transaction | None = None,
        **options: Any,
    ) -> str:
        """Push a script with its data, or a declared function with its arguments.

        With a transaction it becomes a job when that completes, else never. Of a function, keywords
        that are no options are arguments.
        """
        call = called(script, arguments, options)
        block = call.options.get("batch")
        if isinstance(block, Block):
            return block.collect(self.name, call.script, [call.data], call.options)[0]
        with outbox.holding_for(transaction) if transaction else nullcontext():
            return push.push(self.name, call.script, call.data, call.options)

    def push_many(
        self,
        script: Any,
        datas: Sequence[Any],
        *,
        transaction: Transaction | None = None,
        **options: Any,
    ) -> list[str]:
        """Push many jobs of one script or function, all or none."""
        call = called_often(script, datas, options)
        block = call.options.get("batch")
        if isinstance(block, Block):
            return block.collect(self.name, call.script, call.data, call.options)
        with outbox.holding_for(transaction) if transaction else nullcontext():
            return push.push_many(self.name, call.script, call.data, call.options)

    def batch(self, name: str = "", *, done: Any = None, failed: Any = None) -> Block:
        """Group pushes: `with queue.batch(done=…, failed=…) as batch: batch.push(…)`.

        All of them are stored when the block ends, and none if it raises an error.
        """
        return Block(self.name, name, done, failed)

    def open_batch(self, name: str = "", *, done: Any = None, failed: Any = None) -> "BatchHandle":
        """Begin a batch whose jobs start as they are pushed; it can end once it is closed."""
        return BatchHandle(batches.open_batch(self.name, name, done, failed).pk)

    def get(self, job_id: str) -> "JobHandle":
        return JobHandle(parsed_id(job_id), self.name)

    def delete(self, job_id: str) -> bool:
        job = self.get(job_id)
        return job.exists() and actions.delete(int(job.id))

    def cancel(self, unique_key: str, *, reason: str = "") -> str | None:
        """Abort the unfinished job with this unique key; return its id, None if there is none."""
        if not isinstance(unique_key, str) or not unique_key:
            raise BadPush("give the unique_key of the job that is to be cancelled")
        job_id = actions.cancel_by_key(self.name, unique_key, reason=reason)
        return None if job_id is None else str(job_id)

    def pending(self, script: Any = None, **page: Any) -> list[str]:
        """Return ids by due time, as the other lists do: all, or up to `limit` after a job.

        `queue.pending(limit=100, after=ids[-1])` is the page that follows `ids`.
        """
        return self._ids(script, Page(**page), status=Status.PENDING)

    def progress(self, script: Any = None, **page: Any) -> list[str]:
        return self._ids(script, Page(**page), status=Status.PROGRESS)

    def complete(self, script: Any = None, **page: Any) -> list[str]:
        return self._ids(script, Page(**page), status=Status.COMPLETE)

    def failed(self, script: Any = None, **page: Any) -> list[str]:
        return self._ids(script, Page(**page), status=Status.FAILED)

    def all(self, script: Any = None, **page: Any) -> list[str]:
        return self._ids(script, Page(**page))

    def _ids(self, script: Any, page: "Page", **conditions: Any) -> list[str]:
        named = None if script is None else _mount_and_name(script)
        if page.limit is not None and conditions == {"status": Status.PENDING}:
            return self._pending_page(named, page, page.limit)
        jobs = QueuedJob.objects.visible().filter(queue__name=self.name, **conditions)
        if named is not None:
            jobs = jobs.of_script(*named)
        if page.after is not None:
            last = self.get(page.after)._found()
            due_at = Subquery(QueuedJob.objects.filter(pk=last).values("due_at"))
            jobs = jobs.filter(Q(due_at__gt=due_at) | Q(due_at=due_at, id__gt=last))
        ids = jobs.by_due_time().values_list("id", flat=True)[: page.limit]
        return [str(job_id) for job_id in ids]

    def _pending_page(self, named: tuple[str, str] | None, page: "Page", limit: int) -> list[str]:
        queue_id = Queue.objects.filter(name=self.name).values_list("pk", flat=True).first()
        mount, script = named or ("", "")
        asked = {"queue_id": queue_id, "mount": mount, "script": script, "limit": limit}
        if page.after is not None:
            asked["id"] = self.get(page.after)._found()
        statement = pending_page(of_script=named is not None, after=page.after is not None)
        return [str(job_id) for (job_id,) in execute(statement, asked).rows]


class Page:
    """So many jobs of a list: those that follow one, which may have ended meanwhile."""

    def __init__(self, limit: int | None = None, after: str | None = None) -> None:
        is_number = isinstance(limit, int) and not isinstance(limit, bool)
        if limit is not None and not (is_number and limit >= 1):
            raise BadPage(f"limit must be a whole number from 1 on, not {limit!r}")
        self.limit, self.after = limit, after


class JobHandle:
    """A job of this queue; every property is read when it is asked for."""

    def __init__(self, job_id: int, queue: str) -> None:
        self._id = job_id
        self._queue = queue

    def __repr__(self) -> str:
        return f"<job {self.id}>"

    @property
    def id(self) -> str:
        return str(self._id)

    def exists(self) -> bool:
        return self._rows().exists()

    @property
    def status(self) -> str:
        return self._value("status")

    @property
    def state(self) -> str:
        """Return the word of the screens, which is finer than the status."""
        return job_state(self._row(), database_now())

    @property
    def data(self) -> Any:
        return self._value("data")

    @property
    def result(self) -> Any:
        return self._value("result")

    @property
    def runs(self) -> int:
        return self._value("runs")

    @property
    def run_failures(self) -> int:
        return self._value("run_failures")

    @property
    def max_failures(self) -> int:
        return self._value("max_failures")

    @property
    def repeat_times(self) -> int:
        return self._value("repeat_times")

    @property
    def repeat_delay(self) -> int:
        return self._value("repeat_delay_ms")

    @property
    def repeat_until(self) -> datetime | None:
        return self._value("repeat_until")

    @property
    def delay_until(self) -> datetime:
        return self._value("due_at")

    @property
    def expires_at(self) -> datetime | None:
        return self._value("expires_at")

    @property
    def is_expired(self) -> bool:
        """Whether it ended because it had not started by `expires_at`."""
        return self._row().expired_at is not None

    @property
    def type(self) -> dict[str, str]:
        row = self._row()
        return {"mount": row.mount, "name": row.script}

    @property
    def failures(self) -> list[str]:
        """Return the errors of its whole life, oldest first."""
        row = self._row()
        runs = Run.objects.filter(job_id=self._id, outcome=Outcome.FAILED)
        errors = list(runs.order_by("attempt").values_list("error", flat=True))
        if row.expired_at:
            return [*errors, EXPIRED]
        return [*errors, ABORTED] if row.aborted_at else errors

    def abort(self) -> None:
        actions.abort(self._found())

    def reset(self) -> None:
        actions.reset(self._found())

    def pause(self, reason: str = "") -> bool:
        return actions.pause(self._found(), reason=reason)

    def resume(self) -> bool:
        return actions.resume(self._found())

    def reschedule(self, **changes: Any) -> bool:
        """Change `repeat_delay`, `repeat_times`, `repeat_until`; False when nothing changed."""
        return repeating.reschedule(self._found(), changes)

    def _found(self) -> int:
        if not self.exists():
            raise self._missing()
        return self._id

    def _value(self, field: str) -> Any:
        value = self._rows().values_list(field, flat=True).first()
        if value is None and not self.exists():
            raise self._missing()
        return value

    def _row(self) -> QueuedJob:
        row = self._rows().first()
        if row is None:
            raise self._missing()
        return row

    def _rows(self) -> "QuerySet[QueuedJob]":
        return QueuedJob.objects.filter(pk=self._id, queue__name=self._queue)

    def _missing(self) -> JobNotFound:
        return JobNotFound(f"Job does not exist: {self.id}", job=self.id)


class BatchHandle:
    """A batch; every property is read when it is asked for."""

    def __init__(self, batch_id: int) -> None:
        self._id = batch_id

    def __repr__(self) -> str:
        return f"<batch {self.id}>"

    @property
    def id(self) -> str:
        return str(self._id)

    @property
    def name(self) -> str:
        return self._row().name

    @property
    def state(self) -> str:
        """Return open, running, complete or failed."""
        return str(self._row().state)

    @property
    def counts(self) -> dict[str, int]:
        """Return how many jobs it has, by state, and their `total`."""
        return counts_of(self._row())

    @property
    def callback(self) -> str | None:
        """Return the id of the job that was pushed at its end, if there is one."""
        pushed = self._row().callback_job
        return None if pushed is None else str(pushed)

    def push(self, script: Any, *arguments: Any, **options: Any) -> str:
        """Push a job into the open batch, in its own queue; it may start at once."""
        return self._queue().push(script, *arguments, batch=self, **options)

    def push_many(self, script: Any, datas: Sequence[Any], **options: Any) -> list[str]:
        return self._queue().push_many(script, datas, batch=self, **options)

    def close(self) -> bool:
        """Let no more jobs in, so that it can end; False when it was closed before."""
        return batches.close(self._id)

    def retry_failed(self) -> int:
        """Start its failed jobs over; return how many."""
        return batches.retry_failed(self._id).changed

    def abort(self, reason: str = "") -> int:
        """Abort its jobs that have not ended; return how many."""
        return batches.abort_rest(self._id, reason=reason).changed

    def _queue(self) -> QueueHandle:
        return QueueHandle(self._row().queue.name)

    def _row(self) -> Batch:
        row = Batch.objects.select_related("queue").filter(pk=self._id).first()
        if row is None:
            raise batches.missing(self._id)
        return row


def get_batch(batch_id: str) -> BatchHandle:
    """Return a batch by its id, as `with queue.batch()` and REST name it."""
    handle = BatchHandle(parsed_id(batch_id))
    handle._row()
    return handle


def _mount_and_name(script: Any) -> tuple[str, str]:
    if callable(bare(script)):
        known = to_push(script)
        return known.module, known.name
    if not isinstance(script, Mapping) or not {"mount", "name"} <= set(script):
        raise BadPush("a script is named by its mount and name")
    return script["mount"], script["name"]


def parsed_id(job_id: Any) -> int:
    digits = isinstance(job_id, str) and job_id.isascii() and job_id.isdigit()
    if not digits or len(job_id) > 19 or int(job_id) >= 2**63:
        raise InvalidJobId(f"Invalid job id: {job_id!r}")
    return int(job_id)
