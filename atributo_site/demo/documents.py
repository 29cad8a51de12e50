"""Accounts: one transfer that completed, one that was rolled back, one key that is held."""

from allocation.transactions import Client, Transaction
from allocation.transactions.models import Document

BALANCES = {"ada": 120, "grace": 80, "edsger": 45}


def is_empty() -> bool:
    return not Document.objects.exists()


def tell() -> None:
    client = Client()
    for name, balance in BALANCES.items():
        client.put("accounts", name, {"owner": name, "balance": balance}, ref=False)
    _transfer(client, "ada", "grace", 30).complete()
    _transfer(client, "grace", "edsger", 500).roll_back()


def _transfer(client: Client, source: str, target: str, amount: int) -> Transaction:
    """Both balances change or none does; the caller says which."""
    txn = Transaction(client)
    for name, change in ((source, -amount), (target, amount)):
        account = txn.get("accounts", name)
        txn.put("accounts", name, {**account.json, "balance": account["balance"] + change})
    return txn
