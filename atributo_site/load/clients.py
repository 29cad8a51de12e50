"""Press: clients in threads that do one kind of thing until the time is over.

What the clients of a load test do, over and over: one function per kind.
"""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count

from django.db import DatabaseError, connections

import queues
from allocation.atributo import Atributo
from allocation.transactions import Client, CollectionKeyIsLocked
from allocation.transactions.engine.transaction import Transaction
from atributo_site.core.errors import AtributoError
from atributo_site.load.figures import Sample
from atributo_site.load.fixture import Ground

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


MOST_OPERATIONS = 100_000  # of each kind: what is made must be removed again


def press(kind: str, ground: Ground, clients: int, seconds: float) -> Sample:
    """What all the clients together did."""
    begun = time.monotonic()
    work = partial(_client, kind, ground, begun, seconds, MOST_OPERATIONS // clients)
    with ThreadPoolExecutor(clients) as pool:
        return sum(pool.map(work, range(clients)), Sample())


def _client(
    kind: str, ground: Ground, begun: float, seconds: float, most: int, client: int
) -> Sample:
    sample = Sample()
    try:
        deed = DEEDS[kind](ground, client)
        for _ in range(most):
            _do(deed, sample, begun)  # at least once, however long it took to begin
            if time.monotonic() - begun >= seconds:
                break
    finally:
        connections.close_all()
    return sample


def _do(deed: Deed, sample: Sample, begun: float) -> None:
    started = time.monotonic()
    try:
        deed()
    except (AtributoError, DatabaseError) as error:
        _count(error, sample)
        return
    ended = time.monotonic()
    sample.ended.append(ended - begun)
    sample.took.append(ended - started)


def _count(error: Exception, sample: Sample) -> None:
    """A key that another client holds is refused as it should be: that is no error."""
    if getattr(error, "status_code", None) == CollectionKeyIsLocked.status_code:
        sample.refused += 1
    else:
        sample.errors[type(error).__name__] += 1
