"""Accounts and orders: one transfer completed, one rolled back, one client that died half-way."""

from allocation.transactions import Client, Transaction
from allocation.transactions.models import Document

STOCK = {"kettle": 12, "teapot": 3}
BALANCES = {"ada": 120, "grace": 80, "edsger": 45}


def is_empty() -> bool:
    return not Document.objects.exists()


def seed() -> None:
    """Make it once: a second time it would meet the locks of its own dead client."""
    if Document.objects.filter(collection="stock").exists():
        return
    client = Client()
    for name, balance in BALANCES.items():
        client.put("accounts", name, {"owner": name, "balance": balance}, ref=False)
    _transfer(client, "ada", "grace", 30).complete()
    _transfer(client, "grace", "edsger", 500).roll_back()
    for item, count in STOCK.items():
        client.put("stock", item, {"item": item, "count": count, "shelves": ["A3"]}, ref=False)
    _order(client, 2041, "kettle", "ada").complete()
    _order(client, 2042, "teapot", "grace")  # its client is gone, so the curator rolls it back
    client.put("stock", "saucer", {"item": "saucer", "count": 40, "shelves": ["A4"]}, ref=False)


def _order(client: Client, number: int, item: str, customer: str) -> Transaction:
    """Make an order and take its item from stock; the keys are locked until the caller ends it."""
    txn = Transaction(client, owner="checkout-1")
    lines = [{"item": item, "count": 1}]
    txn.put("orders", str(number), {"customer": customer, "lines": lines}, ref=False)
    stock = txn.get("stock", item)
    txn.put("stock", item, {**stock.json, "count": stock["count"] - 1, "shelves": ["A3", "B1"]})
    return txn


def _transfer(client: Client, source: str, target: str, amount: int) -> Transaction:
    """Change both balances in a transaction that the caller ends."""
    txn = Transaction(client)
    for name, change in ((source, -amount), (target, amount)):
        account = txn.get("accounts", name)
        txn.put("accounts", name, {**account.json, "balance": account["balance"] + change})
    return txn
