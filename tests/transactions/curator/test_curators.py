"""Real curators as processes: exactly one is active, and what one leaves another finishes."""

import os
import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psutil
import pytest
import time_machine
from django.db import connections

from allocation.transactions import Curator, Transaction
from allocation.transactions.models import Lock
from allocation.transactions.models import Transaction as Row
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now
from tests.transactions.engine.children import Child, child
from tests.transactions.engine.crashes import expire_everything

pytestmark = pytest.mark.django_db(transaction=True)
FAST = {  # looks often, and keeps its lease though the machine stands still
    "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "60000",
    "ATRIBUTO_CURATOR_HEARTBEAT_INTERVAL_MS": "200",
}


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


def runs(process):
    """A curator with the default settings, until a signal says stop."""
    curator = Curator(name=str(os.getpid()))
    signal.signal(signal.SIGTERM, lambda *_: curator.stop())
    process.tell("ready")
    curator.run()


def taken_over(processes, number, seconds, wait_until):
    """Send the signal to the active one; who is active that many seconds later."""
    before = holder()
    os.kill(before, number)
    wait_until(lambda: holder() not in (None, before), seconds)
    os.waitpid(before, 0)
    return [process for process in processes if process.pid != before]


@pytest.mark.soak
@pytest.mark.parametrize("number", range(10))
def test_a_killed_curator_is_replaced_in_8_5_s_and_a_stopped_one_at_once(
    number, wait_until, settings
):
    as_installed = {"curator_heartbeat_timeout_ms": 7500}  # other tests are more patient
    settings.ATRIBUTO = replace(settings.ATRIBUTO, **as_installed)
    connections.close_all()
    processes = [Child(runs) for _ in range(10)]
    try:
        assert [process.told() for process in processes] == ["ready"] * 10
        wait_until(holder)
        processes = taken_over(processes, signal.SIGKILL, 8.5, wait_until)
        processes = taken_over(processes, signal.SIGTERM, 1, wait_until)
        assert len(processes) == 8
    finally:
        for process in processes:
            process.kill()
            os.waitpid(process.pid, 0)


def holder():
    lease = Lease.objects.held().filter(role="curator").first()
    return lease and int(lease.holder)


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


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_curator_whose_clock_is_wrong_usurps_nobody(hours):
    right, wrong = Curator(name="right"), Curator(name="wrong")
    right.step(database_now())
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=hours)):
        wrong.step(database_now())
    right.step(database_now())
    assert (right.is_active, wrong.is_active) == (True, False)
    right.resign()


def test_a_real_curator_mends_and_a_killed_one_is_replaced(store, spawn, wait_until):
    first = spawn("run_curator", "--name", "first", env=FAST)
    wait_until(lambda: active() == "first")
    spawn("run_curator", "--name", "second", env=FAST)
    one = Transaction(store)
    one.put("c", "old", {"v": 1})
    expire_everything()
    wait_until(lambda: Row.objects.get(pk=one.id).status == "rolled_back")
    first.kill()
    end_lease()
    two = Transaction(store)
    two.put("c", "old", {"v": 2})
    expire_everything()
    wait_until(lambda: Row.objects.get(pk=two.id).status == "rolled_back")
    assert active() == "second" and not Lock.objects.exists()
    assert store.get("c", "old").json == {"v": 0}


def test_a_real_curator_that_slept_beyond_its_lease_writes_nothing(store, spawn, wait_until):
    """It stops itself with a list of what is overdue in hand, and no database transaction open:
    one that sleeps inside a write keeps all others from a SQLite until it goes on."""
    txn = Transaction(store)
    txn.put("c", "old", {"v": 1})
    expire_everything()
    stops = {"ATRIBUTO_FAILPOINT": "curate.after_list:stop", "ATRIBUTO_ENV": "test"}
    sleeper = spawn("run_curator", "--name", "sleeper", env={**FAST, **stops})
    wait_until(lambda: psutil.Process(sleeper.pid).status() == psutil.STATUS_STOPPED)
    assert active() == "sleeper"
    end_lease()
    spawn("run_curator", "--name", "successor", "--only", "orphaned locks", env=FAST)
    wait_until(lambda: active() == "successor")
    sleeper.send_signal(signal.SIGCONT)
    replaced = Event.objects.filter(kind="curator.replaced")
    wait_until(replaced.exists)
    assert replaced.get().facts == {"during": "expired transactions"}
    assert Row.objects.get(pk=txn.id).status == "active"
    taken = Event.objects.filter(kind="curator.active").order_by("id")
    assert [event.facts["epoch"] for event in taken] == [1, 2] and active() == "successor"


def end_lease():
    """As if its time were over."""
    Lease.objects.filter(role="curator").update(expires_at=database_now())


def active():
    lease = Lease.objects.held().filter(role="curator").first()
    return lease and lease.facts.get("name")
