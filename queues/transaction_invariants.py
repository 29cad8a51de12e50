"""What must always hold between runs, their transactions and the pushes inside them."""

from datetime import timedelta

from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now

from allocation.transactions.models import Transaction
from queues.models import AttemptTransaction, HeldPush

MOST = 20
LATE = timedelta(seconds=10)


def open_beside_a_later_attempt() -> list[str]:
    """An attempt begins after what earlier ones wrote is rolled back."""
    still_open = Transaction.objects.unfinished().filter(pk=OuterRef("transaction"))
    rows = AttemptTransaction.objects.filter(
        Exists(still_open),
        job__status="progress",
        job__attempt__gt=F("attempt"),
        job__started_at__lt=Now() - LATE,
    )
    return [f"{row.job_id} attempt {row.attempt}: {row.transaction}" for row in rows[:MOST]]


def undelivered_pushes() -> list[str]:
    """Longer than a sweep takes."""
    ended = Transaction.objects.finished().filter(
        pk=OuterRef("transaction"), finished_at__lt=Now() - LATE
    )
    rows = HeldPush.objects.filter(Exists(ended))
    return [f"{row.pk} of transaction {row.transaction}" for row in rows[:MOST]]


TRANSACTION_INVARIANTS = [
    (
        "open beside a later attempt",
        "No attempt runs while a transaction of an earlier one is open.",
        open_beside_a_later_attempt,
    ),
    (
        "undelivered pushes",
        "No push is held long after its transaction ended.",
        undelivered_pushes,
    ),
]
