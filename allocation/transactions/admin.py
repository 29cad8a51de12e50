"""Raw lists of documents, transactions and locks; the last two can be ended and released."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin

from allocation.transactions.curator import operator_actions
from allocation.transactions.curator.operator_actions import NotPossibleNow
from allocation.transactions.engine.roll_back import FAILURES
from allocation.transactions.models import (
    Document,
    DocumentEvent,
    DocumentVersion,
    JournalEntry,
    Lock,
    LockWait,
    Relation,
    Transaction,
)
from atributo_site.web.raw_lists import NeedsReason, RawList, RowAction


@admin.register(Document)
class DocumentList(RawList):
    view_action = "document.view"
    exclude = ["value"]  # the document's page shows it without secrets
    list_display = ["collection", "key", "ref", "present", "updated_at"]
    search_fields = ["collection__exact", "key__exact"]
    search_help_text = "The full collection or document key"


@admin.register(DocumentVersion)
class DocumentVersionList(RawList):
    view_action = "document.view"
    exclude = ["value"]
    list_display = ["document", "ref", "present", "undone", "transaction_id", "at"]
    list_select_related = ["document"]


END = "transaction.end"


def _by(operation: Callable[[int, str], Any]) -> Callable[..., None]:
    """Say why an operation failed, whatever it failed with, as its own page does."""

    def act(row: Any, reason: str) -> None:
        try:
            operation(row.pk, reason)
        except FAILURES as error:
            raise NotPossibleNow(f"nothing was changed: {error}") from error

    return act


@admin.register(Transaction)
class TransactionList(RawList):
    view_action = "transaction.view"
    operate_action = "transaction.operate"
    row_actions = (
        RowAction(
            "roll_back",
            "Roll back",
            END,
            _by(operator_actions.roll_back),
            "Every document that they wrote gets its previous value back, and their locks are"
            " released. Their owners can no longer write with them.",
            NeedsReason,
            is_danger=True,
        ),
        RowAction(
            "complete",
            "Keep the changes",
            END,
            _by(operator_actions.complete),
            "Everything that they have written becomes permanent, even if it is only half done,"
            " and their locks are released.",
            NeedsReason,
            is_danger=True,
        ),
        RowAction(
            "retry",
            "Retry the rollback",
            "transaction.operate",
            _by(operator_actions.retry),
            "The rollback of stuck transactions is tried again now.",
            NeedsReason,
        ),
    )
    list_display = ["id", "status", "owner", "label", "cause"]
    list_display += ["started_at", "expires_at", "finished_at"]
    list_filter = ["status"]


@admin.register(JournalEntry)
class JournalEntryList(RawList):
    view_action = "transaction.view"
    exclude = ["before_value"]  # the transaction's page shows it without secrets
    list_display = ["transaction", "action", "document", "before_ref", "after_ref", "undo", "at"]
    list_select_related = ["document", "transaction"]


@admin.register(Lock)
class LockList(RawList):
    view_action = "lock.view"
    operate_action = "lock.release"
    row_actions = (
        RowAction(
            "release",
            "Release",
            "lock.release",
            _by(operator_actions.force_release),
            "A transaction that still runs is rolled back as a whole, and all of its locks are"
            " released.",
            NeedsReason,
            is_danger=True,
        ),
    )
    list_display = ["document", "mode", "token", "transaction", "acquired_at"]
    list_select_related = ["document", "transaction"]


@admin.register(LockWait)
class LockWaitList(RawList):
    view_action = "lock.view"
    list_display = ["document", "mode", "transaction", "since"]
    list_select_related = ["document", "transaction"]


@admin.register(Relation)
class RelationList(RawList):
    view_action = "document.view"
    list_display = ["collection", "key", "kind", "to_collection", "to_key"]


@admin.register(DocumentEvent)
class DocumentEventList(RawList):
    view_action = "document.view"
    exclude = ["value"]
    list_display = ["collection", "key", "type", "timestamp_ms", "ordinal"]
