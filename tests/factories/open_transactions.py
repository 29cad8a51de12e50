"""Make transactions that stay open for as long as a test takes, on any machine."""

from datetime import timedelta

from django.db.models import F

from allocation.transactions import Transaction
from allocation.transactions.models import Transaction as Row

HOUR = timedelta(hours=1)


def open_transaction(client, owner=""):
    txn = Transaction(client, owner=owner)
    later = {"expires_at": F("expires_at") + HOUR, "limit_at": F("limit_at") + HOUR}
    Row.objects.filter(pk=txn.id).update(**later)
    return txn
