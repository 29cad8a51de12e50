"""A counter guarded by its lock: it equals the increments that were acknowledged."""

import random
import time
from contextlib import ExitStack

import pytest

from allocation.transactions import Client, Transaction
from allocation.transactions.errors import AtributoError
from tests.transactions.engine.children import child

pytestmark = pytest.mark.django_db(transaction=True)


def increments(seed, count):
    def story(process):
        chance = random.Random(seed)
        process.tell(sum(increment(chance) for _ in range(count)))

    return story


def increment(chance):
    """1 when the increment was acknowledged, after as many tries as it takes."""
    while True:
        try:
            with Transaction(Client(), wait=3) as txn:
                number = txn.get("c", "counter").json["n"]
                time.sleep(chance.random() * 0.002)  # somebody else would now read the same
                txn.put("c", "counter", {"n": number + 1})
            return 1
        except AtributoError:  # busy or out of time: nothing was counted
            continue


def count_up(clients, each, naps, piece=0):
    """All clients at once; some of them are stopped for a moment over and over."""
    Client().put("c", "counter", {"n": 0})
    with ExitStack() as running:
        seeds = range(piece * clients, (piece + 1) * clients)
        processes = [running.enter_context(child(increments(seed, each))) for seed in seeds]
        for nap in range(naps):
            sleeper = processes[nap % len(processes)]
            sleeper.stop()
            sleeper.go_on()
        return sum(process.told() for process in processes)


def counter():
    return Client().get("c", "counter").json["n"]


def test_no_increment_is_lost_or_counted_twice():
    assert count_up(clients=5, each=6, naps=10) == counter() == 30


@pytest.mark.soak
@pytest.mark.parametrize("piece", range(5))
def test_no_increment_of_many_clients_is_lost_or_counted_twice(piece):
    """Fifty clients, two hundred times each, in five pieces of a few minutes."""
    assert count_up(clients=50, each=40, naps=100, piece=piece) == counter() == 2000
