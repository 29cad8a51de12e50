"""Read the transactions and journals that attempts at a job, or a dry run, wrote."""

from dataclasses import dataclass
from typing import Any

from allocation.transactions.models import JournalEntry, Transaction
from atributo_site.console.transactions.journal import Written, written

MOST_LINES = 100


@dataclass(frozen=True)
class Journal:
    """One transaction with the lines that it wrote."""

    row: Transaction
    lines: list[Written]


def journals(transactions: list[int]) -> dict[int, Journal]:
    """Return the journals by transaction, in four queries for any number of them."""
    if not transactions:
        return {}
    entries = JournalEntry.objects.filter(transaction__in=transactions).with_documents()
    lines = written(list(entries.order_by("id")[:MOST_LINES]))
    rows = Transaction.objects.in_bulk(transactions)
    return {
        pk: Journal(row, [line for line in lines if line.entry.transaction_id == pk])
        for pk, row in rows.items()
    }


def add_journals(attempts: list[dict[str, Any]]) -> None:
    """Give each attempt its journals, oldest first."""
    by_transaction = journals([pk for attempt in attempts for pk in attempt["transactions"]])
    for attempt in attempts:
        attempt["journals"] = [
            by_transaction[pk] for pk in attempt["transactions"] if pk in by_transaction
        ]
