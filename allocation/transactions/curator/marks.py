"""Marks that change with transactions, locks and documents: open pages look again then."""

from collections.abc import Hashable

from django.db.models import Count, Max, Sum

from allocation.transactions.models import DocumentVersion, Lock, LockWait, Transaction


def marks() -> dict[str, Hashable]:
    """Return a value for each kind of subject; it differs after a change."""
    return {
        "transaction": _transactions(),
        "lock": _locks(),
        "document": DocumentVersion.objects.aggregate(last=Max("pk"))["last"],
    }


def _transactions() -> Hashable:
    unfinished = Transaction.objects.filter(finished_at=None)
    finished = Transaction.objects.exclude(finished_at=None)
    return (
        tuple(unfinished.aggregate(Count("pk"), Max("pk"), Sum("epoch"), Sum("attempts")).values()),
        finished.aggregate(last=Max("finished_at"))["last"],
    )


def _locks() -> Hashable:
    return (*Lock.objects.aggregate(Count("pk"), Max("pk")).values(), LockWait.objects.count())
