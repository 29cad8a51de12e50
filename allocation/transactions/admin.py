"""Raw lists of documents, transactions and locks, to look at only."""

from django.contrib import admin

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
from atributo_site.web.raw_lists import RawList


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


@admin.register(Transaction)
class TransactionList(RawList):
    view_action = "transaction.view"
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
