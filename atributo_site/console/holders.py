"""The queued jobs whose attempts hold locks, and what becomes of a job that loses one."""

from collections.abc import Iterable

from django.utils.html import format_html
from django.utils.safestring import SafeString

from queues.logic.lifecycle import FOREVER
from queues.models import AttemptTransaction, QueuedJob


def jobs_of(transactions: Iterable[int]) -> dict[int, QueuedJob]:
    """By transaction, one query for any number; those of scripts that run now have none."""
    noted = AttemptTransaction.objects.filter(transaction__in=list(transactions))
    rows = noted.select_related("job").defer("job__data", "job__result")
    return {row.transaction: row.job for row in rows}


def consequences(transaction: int) -> list[SafeString]:
    """What a release does to the job of the holder; nothing where none is under way."""
    job = jobs_of([transaction]).get(transaction)
    if job is None or job.ended_at is not None:
        return []
    name = format_html('<a href="{}">{} {}</a>', job.get_absolute_url(), job.script, job.pk)
    if runs_again(job):
        said = "Its job will be tried again and may take the lock again; abort the job instead: {}."
    else:
        said = "Its job fails with that: {}."
    return [format_html(said, name)]


def runs_again(job: QueuedJob) -> bool:
    """Whether another attempt or another run follows one that fails."""
    forgiven = job.max_failures == FOREVER or job.run_failures < job.max_failures
    return forgiven or job.repeat_times != 0
