"""What the attempts at a job, or a dry run, wrote: their transactions and journals."""

from dataclasses import dataclass
from typing import Any

from allocation.transactions.models import JournalEntry, Transaction
from atributo_site.console.transactions.journal import Written, written

MOST_LINES = 100


@dataclass(frozen=True)
class Journalled:
    """One transaction with the lines that it wrote."""

    row: Transaction
    lines: list[Written]


def journals(transactions: list[int]) -> dict[int, Journalled]:
    """By transaction; three queries for any number of them, none without any."""
    if not transactions:
        return {}
    entries = JournalEntry.objects.filter(transaction__in=transactions).select_related("document")
    lines = written(list(entries.order_by("id")[:MOST_LINES]))
    rows = Transaction.objects.in_bulk(transactions)
    return {
        pk: Journalled(row, [line for line in lines if line.entry.transaction_id == pk])
        for pk, row in rows.items()
    }


def add_journals(attempts: list[dict[str, Any]]) -> None:
    """Give each attempt its journals, oldest first."""
    found = journals([pk for attempt in attempts for pk in attempt["transactions"]])
    for attempt in attempts:
        attempt["journals"] = [found[pk] for pk in attempt["transactions"] if pk in found]
