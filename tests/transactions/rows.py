"""Many rows at once."""

from datetime import timedelta

from allocation.models.clock import database_now
from allocation.transactions.models import Transaction


def finished_transactions(count, batch=10_000):
    """Completed long enough ago to be history, not long enough to be removed."""
    now = database_now()
    for start in range(0, count, batch):
        Transaction.objects.bulk_create(
            Transaction(
                status="completed",
                started_at=now - timedelta(seconds=60 + number),
                expires_at=now - timedelta(seconds=55 + number),
                limit_at=now,
                finished_at=now - timedelta(seconds=58 + number),
            )
            for number in range(start, min(start + batch, count))
        )
