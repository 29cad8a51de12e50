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
from atributo_site.load.fixture import LoadFixture

Action = Callable[[], object]
KEYS = 1000
WRITES = 2
SCRIPT = {"mount": "/load-test", "name": "nothing"}


def pushing(fixture: LoadFixture, client: int) -> Action:
    """One job into the own queue."""
    queue = queues.get(fixture.name)
    return lambda: queue.push(SCRIPT, {"client": client})


def allocating(fixture: LoadFixture, client: int) -> Action:
    """A key that was never seen before."""
    allocator = Atributo()
    numbers = count()
    return lambda: allocator.allocate(f"{fixture.name}/{client}/{next(numbers)}")


def transacting(fixture: LoadFixture, client: int) -> Action:
    """Two keys written as one; clients rarely meet on a key."""
    documents = Client()

    def change() -> None:
        with Transaction(documents, owner=fixture.name) as txn:
            for key in sorted(random.sample(range(KEYS), WRITES)):
                txn.put(fixture.collection, f"key-{key}", {"client": client})

    return change


ACTIONS: dict[str, Callable[[LoadFixture, int], Action]] = {
    "pushes": pushing,
    "allocations": allocating,
    "transactions": transacting,
}


MOST_OPERATIONS = 100_000  # of each kind: what is made must be removed again


def apply_load(kind: str, fixture: LoadFixture, clients: int, seconds: float) -> Sample:
    """What all the clients together did."""
    begun = time.monotonic()
    work = partial(_client, kind, fixture, begun, seconds, MOST_OPERATIONS // clients)
    with ThreadPoolExecutor(clients) as pool:
        return sum(pool.map(work, range(clients)), Sample())


def _client(
    kind: str, fixture: LoadFixture, begun: float, seconds: float, most: int, client: int
) -> Sample:
    sample = Sample()
    try:
        action = ACTIONS[kind](fixture, client)
        for _ in range(most):
            _do(action, sample, begun)  # at least once, however long it took to begin
            if time.monotonic() - begun >= seconds:
                break
    finally:
        connections.close_all()
    return sample


def _do(action: Action, sample: Sample, begun: float) -> None:
    started = time.monotonic()
    try:
        action()
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
