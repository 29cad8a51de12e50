"""Link new jobs to a batch and to the jobs that they wait for, in the transaction of their push."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q

from atributo_site.core.database import dialect, execute, listed
from queues.errors import BadPush, BatchIsClosed, BatchNotFound
from queues.links.sql import statements as sql
from queues.logic.lifecycle import FOREVER
from queues.logic.ranks import BLOCKED
from queues.models import Batch, Dependency, QueuedJob

MOST_LINKS = 100_000  # that one push may make
PIECE = 1000
# Blocked jobs are due in another age, so that no count of due or delayed jobs has them.
FAR = datetime(9000, 1, 1, tzinfo=UTC)


def check_open(batch_id: int) -> None:
    """Keep the batch from being closed until this transaction ends; refuse if it is not open."""
    row = execute(sql.lock_open(dialect()), {"batch": batch_id}).first
    if row is None:
        raise BatchNotFound(f"Batch does not exist: {batch_id}", batch=str(batch_id))
    if row[0] != Batch.State.OPEN:
        raise BatchIsClosed(f"batch {batch_id} is closed and takes no more jobs", batch=batch_id)


def must_wait(after: Sequence[int]) -> bool:
    """Return whether not all of these jobs are complete; refuse what never ends."""
    seen: dict[int, str] = {}
    for begin in range(0, len(after), PIECE):
        jobs = QueuedJob.objects.filter(pk__in=after[begin : begin + PIECE])
        endless = jobs.filter(Q(repeat_times=FOREVER, repeat_until=None), ended_at=None)
        if job_id := endless.values_list("pk", flat=True).first():
            raise BadPush(f"after names job {job_id}, which repeats without an end")
        seen |= dict(jobs.values_list("pk", "status"))
    missing = [job_id for job_id in after if job_id not in seen]
    if missing:
        raise BadPush(f"after names job {missing[0]}, which does not exist")
    return any(status != "complete" for status in seen.values())


def columns(row: dict[str, Any], batch_id: int | None, *, blocked: bool) -> dict[str, Any]:
    """Return the columns of a new job with its batch, blocked if it waits for others."""
    row = {**row, "batch_id": batch_id, "delayed_until": None}
    if not blocked:
        return row
    moment = dialect().moment(FAR)
    return {**row, "rank": row["rank"] + BLOCKED, "due_at": moment, "delayed_until": row["due_at"]}


def store(pairs: Iterable[tuple[int, int, bool]]) -> None:
    """Store which job waits for which, and whether it starts even if that one fails."""
    rows = [Dependency(job_id=job, after_id=after, even_if_failed=e) for job, after, e in pairs]
    if len(rows) > MOST_LINKS:
        raise BadPush(f"one push may make jobs wait for up to {MOST_LINKS} others in all")
    Dependency.objects.bulk_create(rows, batch_size=PIECE)
    awaited = sorted({row.after_id for row in rows})
    execute(sql.await_end(dialect()), {"ids": listed(awaited)})


def block_again(ids: Sequence[int]) -> list[int]:
    """Let jobs that were started over wait again for those that have not ended; return which do."""
    if not Dependency.objects.filter(job_id__in=ids).exists():
        return []
    asked = {"ids": listed(ids), "far": dialect().moment(FAR)}
    return [row[0] for row in execute(sql.block(dialect()), asked).rows]
