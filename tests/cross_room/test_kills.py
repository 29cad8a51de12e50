"""A worker killed in a transactional script leaves all or nothing, and the job runs once."""

import os
from collections import Counter

import pytest

from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as TransactionRow
from queues.models import Run
from tests.cross_room.kills import Kills, seed


@pytest.fixture
def kills(bank, worker, sweep, wait_until, expire_leases, process_environment):
    return Kills(bank, worker, sweep, wait_until, expire_leases, seed())


def settled(kills, wait_until):
    """Return True when every receipt is written and nothing is held any more."""
    kills.sweep()
    kills._staff()
    return not kills.bank.queue.pending() and not Lock.objects.exists()


def test_a_killed_script_leaves_documents_whole_and_is_done_once(kills, wait_until):
    for how in ("child", "worker", "stop", "child"):
        kills.strike(how)
    wait_until(lambda: settled(kills, wait_until) and len(kills.bank.receipts()) == 4)
    ada, grace = kills.images()
    assert kills.broken == []
    assert (ada["transfers"], grace["transfers"]) == (4, 4)


@pytest.mark.soak
def test_a_hundred_kills_leave_documents_whole_and_each_transfer_is_done_once(kills, wait_until):
    """KILLS sets the number, KILL_SEED the moments."""
    count = int(os.environ.get("KILLS", "100"))
    for number in range(count):
        kills.strike(kills.random.choice(["child", "child", "child", "worker", "stop"]))
        print(number + 1, end=" ", flush=True)
    print(Counter(Run.objects.values_list("outcome", flat=True)))
    print(
        Counter(TransactionRow.objects.exclude(owner="onlooker").values_list("status", flat=True))
    )
    wait_until(lambda: settled(kills, wait_until) and len(kills.bank.receipts()) == count, 60)
    ada, grace = kills.images()
    assert kills.broken == []
    assert (ada["transfers"], grace["transfers"]) == (count, count)
