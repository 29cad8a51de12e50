"""Real curators as processes: exactly one is active, and what one leaves another finishes."""

import signal

import pytest

from allocation.models import Event, Lease
from allocation.models.clock import database_now
from allocation.transactions import Curator, Transaction
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row
from tests.transactions.children import child
from tests.transactions.crashes import expire_everything

pytestmark = pytest.mark.django_db(transaction=True)


def competes(process):
    """One step of a curator at the very moment that its test says."""
    curator = Curator(name=f"pid {process.pid}")
    process.tell("ready")
    process.told()
    curator.step(database_now())
    process.tell(curator.is_active)
    process.told()
    curator.resign()
    process.tell("resigned")
    process.told()


def one_round(many):
    """Start so many at once; how many are active, and how many after the active one resigned."""
    contexts = [child(competes) for _ in range(many)]
    processes = [context.__enter__() for context in contexts]
    assert [process.told() for process in processes] == ["ready"] * many
    for process in processes:
        process.tell()
    active = [process.told() for process in processes]
    for process in processes:
        process.tell()
    assert {process.told() for process in processes} == {"resigned"}
    for context in contexts:
        context.__exit__(None, None, None)
    return active.count(True)


def test_of_ten_curators_that_start_at_once_one_is_active():
    assert one_round(10) == 1
    assert not Lease.objects.held().filter(role="curator").exists()


@pytest.mark.soak
@pytest.mark.parametrize("number", range(50))
def test_of_ten_curators_that_start_at_once_one_is_active_each_time(number):
    assert one_round(10) == 1


def test_a_curator_runs_until_it_is_stopped_and_hands_over(store, wait_until):
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    expire_everything()
    curator = Curator()
    assert curator.step(database_now()) == 0.0
    assert (curator.is_active, curator.curated) == (True, 1)
    curator.stop()
    curator.run()
    assert not Lease.objects.held().filter(role="curator").exists()


def test_a_real_curator_mends_and_a_killed_one_is_replaced(store, spawn, wait_until):
    fast = {
        "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "1500",
        "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS": "200",
    }
    first = spawn("run_curator", "--name", "first", env=fast)
    wait_until(lambda: active() == "first", 30)
    spawn("run_curator", "--name", "second", env=fast)
    one = Transaction(store)
    one.put("c", "old", {"v": 1})
    expire_everything()
    wait_until(lambda: Row.objects.get(pk=one.id).status == "rolled_back", 30)
    first.kill()
    two = Transaction(store)
    two.put("c", "old", {"v": 2})
    expire_everything()
    wait_until(lambda: Row.objects.get(pk=two.id).status == "rolled_back", 30)
    assert active() == "second" and not Lock.objects.exists()
    assert store.get("c", "old").json == {"v": 0}


@pytest.mark.only_on("postgresql")  # a process stopped in a write to SQLite stops all others
def test_the_epochs_of_active_curators_only_rise(spawn, wait_until):
    fast = {
        "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "1000",
        "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS": "100",
    }
    names = ["a", "b"]
    processes = {name: spawn("run_curator", "--name", name, env=fast) for name in names}
    winner = wait_until(active, 30)
    other = next(name for name in names if name != winner)
    processes[winner].send_signal(signal.SIGSTOP)
    wait_until(lambda: active() == other, 30)
    processes[winner].send_signal(signal.SIGCONT)
    wait_until(lambda: Event.objects.filter(kind="curator.replaced").exists(), 30)
    taken = Event.objects.filter(kind="curator.active").order_by("id")
    epochs = [event.facts["epoch"] for event in taken]
    assert epochs == sorted(set(epochs)) and active() == other


def active():
    lease = Lease.objects.held().filter(role="curator").first()
    return lease and lease.facts.get("name")
