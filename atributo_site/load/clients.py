"""Run clients in threads; each repeats one kind of action until the time is over."""

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
MOST_OPERATIONS = 100_000  # of each kind: what is made must be removed again


def pushing(fixture: LoadFixture, client: int) -> Action:
    """Push one job into the queue of the load test."""
    queue = queues.get(fixture.name)
    return lambda: queue.push(SCRIPT, {"client": client})


def allocating(fixture: LoadFixture, client: int) -> Action:
    """Allocate a key that was never seen before."""
    allocator = Atributo()
    numbers = count()
    return lambda: allocator.allocate(f"{fixture.name}/{client}/{next(numbers)}")


def transacting(fixture: LoadFixture, client: int) -> Action:
    """Write two keys in one transaction; clients rarely meet on a key."""
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


def apply_load(kind: str, fixture: LoadFixture, clients: int, seconds: float) -> Sample:
    """Return what all clients did together."""
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
    """Count an error; a key that another client holds is refused, which is no error."""
    if getattr(error, "status_code", None) == CollectionKeyIsLocked.status_code:
        sample.refused += 1
    else:
        sample.errors[type(error).__name__] += 1
