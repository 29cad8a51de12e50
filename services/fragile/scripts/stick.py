"""Leave a stuck transaction, as a client that died half-way and whose roll back failed.

The keys stay locked until somebody acts, or until the curator tries again after five minutes and
succeeds, since nothing is really broken here. When a person has ended one, no other is left behind.
"""

from allocation.transactions import Transaction
from allocation.transactions.engine.roll_back import mark_stuck
from allocation.transactions.errors import CollectionKeyIsLocked
from allocation.transactions.models import Transaction as Row

FAILED_TRIES = 12  # the next one is then five minutes away
OWNER = "checkout-1"


def run(context):
    if context.dry_run or is_held(context) or is_cured():
        return None
    txn = Transaction(owner=OWNER)
    order, stock = str(2000 + txn.id), txn.get("stock", "saucer").json
    txn.put("orders", order, {"lines": [{"item": "saucer", "count": 1}]}, ref=False)
    txn.put("stock", "saucer", {**stock, "count": stock["count"] - 1})
    for _ in range(FAILED_TRIES):
        why = OSError("no space left on device (the demo says so)")
        mark_stuck(txn.id, Row.objects.get(pk=txn.id).epoch, why)
    return {"transaction": txn.id, "order": order}


def is_cured():
    """Return whether a person has ended such a transaction: what is cured stays cured."""
    ended = Row.objects.filter(owner=OWNER, finished_at__isnull=False)
    return ended.exclude(reason="").exists()  # only people give one


def is_held(context):
    """Return whether the stock is locked, or missing so that nothing can be ordered."""
    try:
        return context.client.get("stock", "saucer").status_code != 200
    except CollectionKeyIsLocked:
        return True
