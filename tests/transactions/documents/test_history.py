"""Concurrent transactions that append to lists, some of them killed: what a checker finds."""

import os
import random
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.db.models import F

from allocation.transactions import Client, Transaction
from allocation.transactions.curator.expired import expired_transactions
from allocation.transactions.errors import AtributoError, FailedToComplete
from allocation.transactions.models import Transaction as Row
from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from tests.transactions.documents.history import Txn, anomalies
from tests.transactions.engine.children import child
from tests.transactions.engine.crashes import recover

pytestmark = pytest.mark.django_db(transaction=True)
KEYS = ["x", "y", "z"]


def test_a_serial_history_is_clean():
    first = Txn(1, [("append", "x", 1)], "ok")
    second = Txn(2, [("r", "x", [1]), ("append", "x", 2)], "ok")
    assert anomalies([first, second], {"x": [1, 2]}) == []


ANOMALIES = {
    "lost": ([Txn(1, [("append", "x", 1)], "ok")], {"x": []}),
    "aborted": (
        [Txn(1, [("append", "x", 1)], "fail"), Txn(2, [("r", "x", [1])], "ok")],
        {"x": []},
    ),
    "twice": ([Txn(1, [("append", "x", 1)], "ok")], {"x": [1, 1]}),
    "G2": (
        [
            Txn(1, [("r", "x", []), ("append", "y", 1)], "ok"),
            Txn(2, [("r", "y", []), ("append", "x", 2)], "ok"),
        ],
        {"x": [2], "y": [1]},
    ),
    "G0": (
        [
            Txn(1, [("append", "x", 1), ("append", "y", 1)], "ok"),
            Txn(2, [("append", "x", 2), ("append", "y", 2)], "ok"),
        ],
        {"x": [1, 2], "y": [2, 1]},
    ),
    "which became": (
        [Txn(1, [("append", "x", 1)], "ok"), Txn(2, [("r", "x", [2])], "ok")],
        {"x": [1]},
    ),
}


@pytest.mark.parametrize("name", ANOMALIES)
def test_the_checker_finds(name):
    assert any(name in sentence for sentence in anomalies(*ANOMALIES[name]))


def appends(seed, count):
    """A client that appends and reads at random, and says before and after what it does."""

    def story(process):
        chance = random.Random(seed)
        for number in range(count):
            txn = Txn(seed * 1000 + number)
            process.tell(["begin", txn.id])
            append_at_random(txn, str(seed), chance, process)
            process.tell(["end", txn.id, txn.outcome])
        process.tell(["over"])

    return story


def append_at_random(txn, owner, chance, process):
    try:
        handle = Transaction(Client(), wait=60, owner=owner)
        for key in chance.sample(KEYS, chance.randint(1, 3)):
            step(handle, txn, key, chance, process)
        handle.complete()
        txn.outcome = "ok"
    except FailedToComplete:
        txn.outcome = "info"
    except AtributoError:
        txn.outcome = "fail"


def step(handle, txn, key, chance, process):
    seen = handle.get("lists", key).json
    process.tell(["r", txn.id, key, seen])
    if chance.random() < 0.7:
        process.tell(["append", txn.id, key, txn.id])
        handle.put("lists", key, [*seen, txn.id])


def collected(process, until_killed):
    """What a client said, until it is over or killed at a random moment."""
    history = {}
    for _ in range(until_killed):
        kind, *rest = process.told()
        if kind == "over":
            break
        txn = history.setdefault(rest[0], Txn(rest[0]))
        if kind == "end":
            txn.outcome = rest[1]
        elif kind != "begin":
            txn.steps.append((kind, rest[1], rest[2]))
    return list(history.values())


def collected_and_killed(process, most):
    """Its history until it is over, or until it is killed after so many words."""
    history = collected(process, most)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    return history


def run_clients(seeds, count, steps):
    """Clients at once, some of them killed, while a curator mends; all that they told."""
    client = Client()
    for key in KEYS:
        client.put("lists", key, [])
    with ExitStack() as running:
        processes = [running.enter_context(child(appends(seed, count))) for seed in seeds]
        pool = running.enter_context(ThreadPoolExecutor(len(processes)))
        told = [
            pool.submit(collected_and_killed, *each) for each in zip(processes, steps, strict=True)
        ]
        curate_until_done(dict(zip(told, map(str, seeds), strict=True)))
    recover()
    final = {key: client.get("lists", key).json for key in KEYS}
    return [txn for each in told for txn in each.result()], final


def curate_until_done(owners):
    """The time of a client's transaction is over as soon as the client is dead."""
    lease = HeldLease.take("curator", "test", 3600)
    running = set(owners)
    while running:
        done, running = wait(owners, timeout=0.05)
        left = Row.objects.unfinished().filter(owner__in=[owners[each] for each in done])
        left.update(expires_at=F("expires_at") - timedelta(hours=1))
        expired_transactions(database_now(), lease)


def test_transactions_with_kills_are_serializable():
    history, final = run_clients(seeds=[1, 2, 3], count=15, steps=[40, 60, 10_000])
    assert sum(txn.outcome == "ok" for txn in history) >= 15
    assert anomalies(history, final) == []


@pytest.mark.soak
def test_many_transactions_with_kills_are_serializable():
    history, final = run_clients(
        seeds=range(1, 9), count=100, steps=[100, 200, 300, 400, 500, *[100_000] * 3]
    )
    assert anomalies(history, final) == []
