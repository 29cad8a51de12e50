"""A client that counts two of few keys up in transactions until it is killed, and tells of each."""

import os
import random
from contextlib import suppress

from allocation.transactions import Transaction
from atributo_site.core.errors import AtributoError

KEYS = ["k0", "k1", "k2", "k3"]


def main(path, seed):
    chance = random.Random(seed)
    while True:
        with suppress(AtributoError):  # it met another one, or was too slow
            count_up(path, chance)


def count_up(path, chance):
    txn = Transaction(wait=2)
    for key in chance.sample(KEYS, 2):
        found = txn.get("locks", key)
        tell(path, "token", key, found.token, txn.id)
        txn.put("locks", key, found.json + 1)
    tell(path, "try", txn.id)
    txn.complete()
    tell(path, "done", txn.id)


def tell(path, *words):
    """Write a line at once, so that it stands whatever happens to this process."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{' '.join(map(str, words))}\n".encode())
    finally:
        os.close(descriptor)
