"""The invariants of documents, locks and transactions, and the rows that break them."""

from collections.abc import Callable
from datetime import timedelta

from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now

from allocation.transactions.models import (
    Document,
    DocumentVersion,
    JournalEntry,
    Lock,
    Transaction,
)

MOST = 20
NEWEST = 1000  # old rows were checked when they were new
PATIENCE = timedelta(seconds=60)
Invariant = tuple[str, str, Callable[[], list[str]]]


def shared_and_exclusive() -> list[str]:
    others = Lock.objects.filter(document=OuterRef("document")).exclude(pk=OuterRef("pk"))
    rows = Lock.objects.with_names().filter(Exists(others), mode="exclusive")
    return [f"{row.document} by transaction {row.transaction_id}" for row in rows[:MOST]]


def token_ahead() -> list[str]:
    rows = Lock.objects.with_names().filter(token__gt=F("document__lock_token"))
    return [f"{row.document}: token {row.token}" for row in rows[:MOST]]


def locked_by_finished() -> list[str]:
    rows = (
        Lock.objects.orphaned().with_names().filter(transaction__finished_at__lt=Now() - PATIENCE)
    )
    return [f"{row.document} by transaction {row.transaction_id}" for row in rows[:MOST]]


def forgotten() -> list[str]:
    """Find unfinished transactions that no curator rolls back; a stuck one is known."""
    late = Transaction.objects.unfinished().filter(expires_at__lt=Now() - PATIENCE)
    rows = late.exclude(status=Transaction.Status.STUCK)
    return [f"transaction {row.pk} since {row.expires_at}" for row in rows[:MOST]]


def half_rolled_back() -> list[str]:
    last = Transaction.objects.finished().order_by("-pk").values_list("pk", flat=True)[:NEWEST]
    undone = JournalEntry.objects.filter(transaction=OuterRef("pk"), undo="")
    rows = Transaction.objects.filter(
        Exists(undone), pk__in=list(last), status=Transaction.Status.ROLLED_BACK
    )
    return [f"transaction {row.pk}" for row in rows[:MOST]]


def without_history() -> list[str]:
    last = Document.objects.present().order_by("-pk").values_list("pk", flat=True)[:NEWEST]
    versions = DocumentVersion.objects.not_undone()
    version = versions.filter(document=OuterRef("pk"), ref=OuterRef("ref"))
    # Only present ones: a document that was deleted since took its history along.
    rows = Document.objects.present().filter(~Exists(version), pk__in=list(last))
    return [f"{row} at {row.ref}" for row in rows[:MOST]]


INVARIANTS: list[Invariant] = [
    (
        "shared and exclusive",
        "Whoever holds a key exclusively holds it alone.",
        shared_and_exclusive,
    ),
    ("token ahead", "No lock has a token that its key does not know.", token_ahead),
    ("locked by finished", "No lock outlives its transaction.", locked_by_finished),
    ("forgotten", "No transaction is overdue for a minute.", forgotten),
    (
        "half rolled back",
        "A transaction that is rolled back has no write that was not undone.",
        half_rolled_back,
    ),
    ("without history", "Every document's present is in its history.", without_history),
]
