"""The invariants of documents, locks and transactions, and the rows that break them.

Each statement sees one committed state. A step of a rollback, a completion and a write change all
their tables in one database transaction, so what is compared here agrees at any such state.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Coalesce, Now

from allocation.transactions.models import (
    Document,
    DocumentVersion,
    JournalEntry,
    Lock,
    LockWait,
    Transaction,
)
from atributo_site.core.models import Event
from atributo_site.core.models.pieces import MOST, InPieces, Lasting

PATIENCE = timedelta(seconds=60)
Rows = QuerySet[Any]
Invariant = tuple[str, str, Callable[[], list[str]] | InPieces | Lasting]
Status = Transaction.Status
ROLLED_BACK = Q(transaction__status=Status.ROLLED_BACK)


def shared_and_exclusive() -> list[str]:
    others = Lock.objects.filter(document=OuterRef("document")).exclude(pk=OuterRef("pk"))
    rows = Lock.objects.with_names().filter(Exists(others), mode="exclusive")
    return [f"{row.document} by transaction {row.transaction_id}" for row in rows[:MOST]]


def token_ahead() -> list[str]:
    rows = Lock.objects.with_names().filter(token__gt=F("document__lock_token"))
    return [f"{row.document}: token {row.token}" for row in rows[:MOST]]


def token_behind() -> list[str]:
    """Nobody counts a token while a key is held exclusively."""
    rows = Lock.objects.with_names().filter(mode="exclusive", token__lt=F("document__lock_token"))
    return [f"{row.document}: token {row.token}" for row in rows[:MOST]]


def token_went_back(rows: Rows) -> list[str]:
    """Compare each key with the token that it had when a version was written."""
    later = rows.filter(lock_token__gt=F("document__lock_token")).select_related("document")
    return [
        f"{row.document}: {row.lock_token} at {row.ref}, {row.document.lock_token} now"
        for row in later[:MOST]
    ]


def locked_by_finished() -> list[str]:
    rows = Lock.objects.orphaned().with_names()
    return [f"{row.document} by transaction {row.transaction_id}" for row in rows[:MOST]]


def lock_on_nothing() -> list[str]:
    document = Document.objects.filter(pk=OuterRef("document_id"))
    transaction = Transaction.objects.filter(pk=OuterRef("transaction_id"))
    nothing = ~Exists(document) | ~Exists(transaction)
    return [
        f"{word} {row.pk} of transaction {row.transaction_id} on document {row.document_id}"
        for word, rows in (("lock", Lock.objects), ("wait", LockWait.objects))
        for row in rows.filter(nothing)[:MOST]
    ][:MOST]


def wait_of_finished() -> list[str]:
    rows = LockWait.objects.filter(transaction__finished_at__isnull=False)
    named = rows.select_related("document", "transaction")
    return [f"transaction {row.transaction_id} for {row.document}" for row in named[:MOST]]


def forgotten() -> list[str]:
    """Find unfinished transactions that no curator rolls back; a stuck one is known."""
    late = Transaction.objects.unfinished().filter(expires_at__lt=Now() - PATIENCE)
    rows = late.exclude(status=Status.STUCK)
    return [f"transaction {row.pk} since {row.expires_at}" for row in rows[:MOST]]


def written_without_lock() -> list[str]:
    """An operator may free a key of one that is being rolled back or is stuck."""
    lock = Lock.objects.filter(
        document=OuterRef("document"), transaction=OuterRef("transaction"), mode="exclusive"
    )
    lines = JournalEntry.objects.not_undone().filter(
        ~Exists(lock), transaction__finished_at__isnull=True
    )
    rows = lines.select_related("document", "transaction").order_by("pk")[: MOST * 10]
    return [
        f"{row.document} by transaction {row.transaction_id}" for row in rows if not _is_freed(row)
    ][:MOST]


def _is_freed(line: JournalEntry) -> bool:
    if line.transaction.status == Status.ACTIVE:
        return False
    freed = Event.objects.about(f"document:{line.document}").filter(kind="lock.released")
    return freed.filter(facts__transaction=line.transaction_id).exists()


def half_rolled_back(rows: Rows) -> list[str]:
    left = rows.filter(ROLLED_BACK, undo="").order_by()
    pks = left.values_list("transaction_id", flat=True).distinct()
    return [f"transaction {pk}" for pk in pks[:MOST]]


def undone_and_completed(rows: Rows) -> list[str]:
    """An operator may accept one that is stuck as it stands."""
    stands = Q(transaction__status__in=[Status.ACTIVE, Status.COMPLETED])
    undone = rows.filter(stands).exclude(undo="")
    undone = undone.exclude(transaction__cause=Transaction.Cause.OPERATOR)
    return [
        f"{row.document} in transaction {row.transaction_id} ({row.transaction.status})"
        for row in undone.select_related("document", "transaction")[:MOST]
    ]


def rolled_back_and_there(rows: Rows) -> list[str]:
    there = rows.filter(ROLLED_BACK, document__ref=F("after_ref"))
    return [
        f"{row.document} at {row.after_ref} by transaction {row.transaction_id}"
        for row in there.select_related("document")[:MOST]
    ]


def history_disagrees(rows: Rows) -> list[str]:
    """Compare each line with the version that it wrote, as far as that is kept."""
    version = DocumentVersion.objects.filter(
        document=OuterRef("document"), ref=OuterRef("after_ref")
    )
    stands, undone = Exists(version.filter(undone=False)), Exists(version.filter(undone=True))
    wrong = rows.filter((Q(undo="") & Q(undone)) | (~Q(undo="") & Q(stands)))
    return [
        f"{row.document} at {row.after_ref} by transaction {row.transaction_id}"
        for row in wrong.select_related("document")[:MOST]
    ]


def line_on_nothing(rows: Rows) -> list[str]:
    document = Document.objects.filter(pk=OuterRef("document_id"))
    lost = rows.filter(~Exists(document))
    return [
        f"document {row.document_id} in transaction {row.transaction_id}" for row in lost[:MOST]
    ]


def without_history(rows: Rows) -> list[str]:
    version = DocumentVersion.objects.not_undone().filter(
        document=OuterRef("pk"), ref=OuterRef("ref")
    )
    # Only present ones: a document that was deleted since took its history along.
    lost = rows.filter(~Exists(version), present=True)
    return [f"{row} at {row.ref}" for row in lost[:MOST]]


def other_than_its_ref(rows: Rows) -> list[str]:
    """Compare the stored texts; where these differ, what they mean decides."""
    both = rows.filter(versions__ref=F("ref")).annotate(
        text=Coalesce(Cast("value", TextField()), Value("", TextField())),
        kept_text=Coalesce(Cast("versions__value", TextField()), Value("", TextField())),
        kept_value=F("versions__value"),
        kept_present=F("versions__present"),
    )
    other = both.exclude(text=F("kept_text"), present=F("kept_present"))
    return [
        f"{row} at {row.ref}"
        for row in other[:MOST]
        if (row.present, row.value) != (row.kept_present, row.kept_value)
    ]


def ended_unlike_its_epoch(rows: Rows) -> list[str]:
    """Whoever rolls back claims it first, and nobody but an operator completes what was claimed."""
    unclaimed = Q(status=Status.ROLLED_BACK, epoch=1)
    claimed = Q(status=Status.COMPLETED, epoch__gt=1) & ~Q(cause=Transaction.Cause.OPERATOR)
    return [str(row) for row in rows.filter(unclaimed | claimed)[:MOST]]


INVARIANTS: list[Invariant] = [
    (
        "shared and exclusive",
        "An exclusive lock on a document is its only lock.",
        shared_and_exclusive,
    ),
    ("token ahead", "No lock has a token that its document does not know.", token_ahead),
    ("token behind", "An exclusive lock has the newest token of its document.", token_behind),
    (
        "token went back",
        "No document counts its tokens below one that it has issued.",
        InPieces(DocumentVersion, token_went_back),
    ),
    ("locked by finished", "No lock outlives its transaction.", locked_by_finished),
    (
        "lock on nothing",
        "Every lock and every wait has a document and a transaction.",
        lock_on_nothing,
    ),
    (
        "wait of finished",
        "No finished transaction waits for a document.",
        Lasting(wait_of_finished),
    ),
    ("forgotten", "No transaction has been overdue for a minute.", forgotten),
    (
        "written without lock",
        "An open transaction locks every document that it wrote.",
        written_without_lock,
    ),
    (
        "half rolled back",
        "A transaction that was rolled back has no write that was not undone.",
        InPieces(JournalEntry, half_rolled_back),
    ),
    (
        "undone and completed",
        "A transaction that is active or completed has no write that was undone.",
        InPieces(JournalEntry, undone_and_completed),
    ),
    (
        "rolled back and there",
        "No document has a value from a transaction that was rolled back.",
        InPieces(JournalEntry, rolled_back_and_there),
    ),
    (
        "history disagrees",
        "The history hides what the journal says was undone, and nothing else.",
        InPieces(JournalEntry, history_disagrees),
    ),
    (
        "line on nothing",
        "Every line of a journal has its document.",
        InPieces(JournalEntry, line_on_nothing),
    ),
    (
        "without history",
        "The current version of every document is in its history.",
        InPieces(Document, without_history),
    ),
    (
        "other than its ref",
        "Every document has the value of its ref.",
        InPieces(Document, other_than_its_ref),
    ),
    (
        "ended unlike its epoch",
        "Only transactions that were rolled back were claimed for it.",
        InPieces(Transaction, ended_unlike_its_epoch),
    ),
]
