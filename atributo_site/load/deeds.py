"""What the clients of a load test do, over and over: one function per kind."""

import random
from collections.abc import Callable
from itertools import count

import queues
from allocation.atributo import Atributo
from allocation.transactions import Client
from allocation.transactions.transaction import Transaction
from atributo_site.load.ground import Ground

Deed = Callable[[], object]
KEYS = 1000
WRITES = 2
SCRIPT = {"mount": "/load-test", "name": "nothing"}


def pushing(ground: Ground, client: int) -> Deed:
    """One job into the own queue."""
    queue = queues.get(ground.name)
    return lambda: queue.push(SCRIPT, {"client": client})


def allocating(ground: Ground, client: int) -> Deed:
    """A key that was never seen before."""
    allocator = Atributo()
    numbers = count()
    return lambda: allocator.allocate(f"{ground.name}/{client}/{next(numbers)}")


def transacting(ground: Ground, client: int) -> Deed:
    """Two keys written as one; clients rarely meet on a key."""
    documents = Client()

    def change() -> None:
        with Transaction(documents, owner=ground.name) as txn:
            for key in sorted(random.sample(range(KEYS), WRITES)):
                txn.put(ground.collection, f"key-{key}", {"client": client})

    return change


DEEDS: dict[str, Callable[[Ground, int], Deed]] = {
    "pushes": pushing,
    "allocations": allocating,
    "transactions": transacting,
}
