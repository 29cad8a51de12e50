"""The tables of documents, transactions, journals and locks."""

from allocation.transactions.models.document import Document, DocumentVersion
from allocation.transactions.models.document_event import DocumentEvent
from allocation.transactions.models.journal import JournalEntry
from allocation.transactions.models.lock import Lock, LockWait
from allocation.transactions.models.relation import Relation
from allocation.transactions.models.transaction import Transaction

__all__ = [
    "Document",
    "DocumentEvent",
    "DocumentVersion",
    "JournalEntry",
    "Lock",
    "LockWait",
    "Relation",
    "Transaction",
]
