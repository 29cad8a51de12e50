"""Make many finished transactions at once."""

from datetime import timedelta

from django.db import connection

from allocation.transactions.models import Transaction
from atributo_site.core.models.clock import database_now

FIRST = 1000
COLUMNS = [field.column for field in Transaction._meta.fields if not field.primary_key]


def finished_transactions(count):
    """Make transactions that are old enough to be history, but too young to be removed."""
    before = Transaction.objects.count()
    Transaction.objects.bulk_create(_finished(number) for number in range(min(count, FIRST)))
    while (missing := before + count - Transaction.objects.count()) > 0:
        _double(missing)


def _finished(number):
    now = database_now() - timedelta(seconds=60 + number)
    return Transaction(
        status="completed",
        started_at=now,
        expires_at=now + timedelta(seconds=5),
        limit_at=now + timedelta(seconds=60),
        finished_at=now + timedelta(seconds=1),
    )


def _double(most):
    names = ", ".join(COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO allocation_transaction ({names}) SELECT {names}"
            " FROM allocation_transaction WHERE finished_at IS NOT NULL LIMIT %s",
            [most],
        )
