"""List locks with their holders and waiters, and say what a release does to a job."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from allocation.transactions.models import Lock, LockWait
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.terminal import same_list
from atributo_site.console.transactions.detail import life
from atributo_site.console.transactions.list import PAGE, TransactionsScreen
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import page_by_key
from queues.logic.lifecycle import FOREVER
from queues.models import AttemptTransaction, QueuedJob

MOST_WAITERS = 500
FILTERS = {"collection": "document__collection", "key": "document__key"}


class Locks(TransactionsScreen):
    """List locks, the one held longest at the top."""

    actions = {"GET": "lock.view"}
    url_name = "transactions-locks"
    template_name = "console/transactions/locks.html"
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        wanted = {name: request.GET.get(name, "")[:255] for name in FILTERS}
        page = page_by_key(
            _filtered(Lock.objects.with_names(), wanted),
            **self.page_keys,
            size=PAGE,
            descending=False,
        )
        now = database_now()
        return self.show(
            page=page,
            locks=held(page.rows, now),
            wanted=wanted,
            filtered=any(wanted.values()),
            same=_same(wanted),
            views=views_of(request, self.url_name),
            may_release=may(request.user, "lock.release"),
            now=now,
        )


def held(locks: list[Lock], now: datetime) -> list[dict[str, Any]]:
    """Add the holder's time left, its job and the waiters to each lock, in two queries for all."""
    waiting = waiters([lock.document_id for lock in locks])
    jobs = jobs_of(lock.transaction_id for lock in locks)
    return [
        {
            "lock": lock,
            "life": life(lock.transaction, now),
            "job": jobs.get(lock.transaction_id),
            "waiters": waiting.get(lock.document_id, []),
        }
        for lock in locks
    ]


def waiters(documents: list[int]) -> dict[int, list[LockWait]]:
    """Return the waiters by document, the longest waiting first."""
    waits = LockWait.objects.filter(document__in=documents).select_related("transaction")
    by_document: dict[int, list[LockWait]] = {}
    for wait in waits.order_by("since")[:MOST_WAITERS]:
        by_document.setdefault(wait.document_id, []).append(wait)
    return by_document


def _same(wanted: dict[str, str]) -> dict[str, str]:
    """Return command and curl; the command does not filter by key."""
    command = "" if wanted["key"] else "manage.py locks list"
    return same_list("/api/v1/locks", wanted, command, {"--collection": wanted["collection"]})


def _filtered(locks: QuerySet, wanted: dict[str, str]) -> QuerySet:
    return locks.filter(**{FILTERS[name]: text for name, text in wanted.items() if text})


def jobs_of(transactions: Iterable[int]) -> dict[int, QueuedJob]:
    """Return the jobs by transaction, in one query; scripts that run at once have none."""
    noted = AttemptTransaction.objects.filter(transaction__in=list(transactions))
    rows = noted.select_related("job").defer("job__data", "job__result")
    return {row.transaction: row.job for row in rows}


def consequences(transaction: int) -> list[SafeString]:
    """Say what a release does to the holder's job; nothing if no job is under way."""
    job = jobs_of([transaction]).get(transaction)
    if job is None or job.ended_at is not None:
        return []
    name = format_html('<a href="{}">{} {}</a>', job.get_absolute_url(), job.script, job.pk)
    if runs_again(job):
        sentence = "Its job will be retried and may take the lock again. Abort the job instead: {}."
    else:
        sentence = "This makes its job fail: {}."
    return [format_html(sentence, name)]


def runs_again(job: QueuedJob) -> bool:
    """Say whether another attempt or run follows a failure."""
    forgiven = job.max_failures == FOREVER or job.run_failures < job.max_failures
    return forgiven or job.repeat_times != 0
