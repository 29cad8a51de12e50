"""A drained instance loses the idle connections of live pools; lent ones end first."""

import os
import socket

import pytest

from allocation.instances import availability
from allocation.instances.holds import left_on, may_remove
from allocation.models import Drain, Hold
from allocation.placement import drains
from atributo_site.core.models.clock import database_now
from atributo_site.curator.integrity import all_rules
from pools import ConnectionPool, StaticIpResolver
from pools.models import Backend, Pool, PoolSnapshot
from pools.reporting import reporting
from pools.reporting.process_report import Report, avoid_drained

pytestmark = pytest.mark.django_db(transaction=True)
PROCESS = "program"
RECOVERY = {"default": {"timeout": 60_000, "retries": 1, "delay": 5}}


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def pool(server):
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": server}])
    resolver.start()
    found = ConnectionPool(
        constructor=lambda backend: socket.create_connection((backend.address, backend.port)),
        domain="svc.example", recovery=RECOVERY, spares=2, maximum=3, resolver=resolver,
    )  # fmt: skip
    yield found
    found.stop()
    resolver.stop()


@pytest.fixture
def instance(pool, server, wait_until):
    (key,) = wait_until(pool.resolver.list)
    name = f"127.0.0.1:{server}"
    availability.make_available(name)
    watched = Pool.objects.create(name="svc", domain="svc.example")
    Backend.objects.create(
        pool=watched, key=key, instance_id=name, address="127.0.0.1", port=server
    )
    return name


def connections(pool):
    return pool.get_stats()["total_connections"]


def test_idle_connections_close_with_the_drain_and_come_back(pool, instance, wait_until):
    wait_until(lambda: connections(pool) == 2)
    drains.drain(instance)
    Report("program").step(database_now())
    wait_until(lambda: connections(pool) == 0)
    availability.make_available(instance)
    Report("program").step(database_now())
    wait_until(lambda: connections(pool) == 2)


def test_a_lent_connection_stays_until_it_is_given_back(pool, instance, wait_until):
    with pool.claim(timeout=60_000) as connection:
        drains.drain(instance)
        avoid_drained([pool])
        wait_until(lambda: connections(pool) == 1)
        connection.getpeername()  # still open
    wait_until(lambda: connections(pool) == 0)


def report(process="program"):
    """Write one picture of this process, as its thread does every five seconds."""
    Report(process).step(database_now())


def is_done(instance):
    drains.step(instance, database_now())
    return Drain.objects.get(pk=instance).done_at is not None


def test_a_drain_waits_for_a_claim_that_no_report_has_told_of(pool, instance):
    """The process claims, and the drain begins, between two of its reports."""
    report()
    with pool.claim(timeout=60_000):
        drains.drain(instance)
        assert not is_done(instance)
        report()
        assert (is_done(instance), left_on(instance).open_claims) == (False, 1)
    report()
    assert is_done(instance)


def test_a_drain_waits_until_a_process_has_seen_it(pool, instance, wait_until):
    """Until then it may lend a connection at any moment."""
    wait_until(lambda: connections(pool) == 2)
    report()
    drains.drain(instance)
    assert (is_done(instance), left_on(instance).open_claims) == (False, 0)
    assert may_remove(instance).sentence == "Not yet: 0 × open claim."
    report()
    assert is_done(instance)


def test_a_restored_instance_is_held_before_it_is_lent_again(pool, instance, wait_until):
    report()
    drains.drain(instance)
    report()
    availability.make_available(instance)
    report()
    wait_until(lambda: connections(pool) == 2)
    drains.drain(instance)
    assert not is_done(instance)


def test_the_claims_of_a_killed_process_hold_a_drain_for_half_a_minute(pool, instance):
    report("dead")
    drains.drain(instance)
    assert not is_done(instance)
    Hold.objects.update(until=database_now())
    assert is_done(instance)


@pytest.fixture
def reported(instance, spawn, wait_until):
    """Return a function that waits until this process has reported so often again."""
    spawn("run_curator", "--name", "healer")
    rows = PoolSnapshot.objects.filter(process=PROCESS).values_list("at", flat=True)

    def wait(times):
        for _ in range(times):
            last = rows.first()
            wait_until(lambda: rows.first() not in (None, last))  # noqa: B023

    with reporting(PROCESS):
        wait(1)
        yield wait


def round_of(pool, instance, reported, wait_until):
    """Claim, drain, look for two reports long, give back, see it done, and restore it."""
    with pool.claim(timeout=60_000):
        drains.drain(instance)
        reported(2)
        assert not is_recorded_as_done(instance)
    wait_until(lambda: is_recorded_as_done(instance))
    assert {rule.name: rows for rule in all_rules() if (rows := rule.broken())} == {}
    availability.make_available(instance)
    wait_until(lambda: pool.get_stats()["total_connections"] == 2)


def is_recorded_as_done(instance):
    return Drain.objects.get(pk=instance).done_at is not None


def test_a_drain_is_done_after_the_last_claim(pool, instance, reported, wait_until):
    round_of(pool, instance, reported, wait_until)


@pytest.mark.soak
def test_drains_and_claims_again_and_again(pool, instance, reported, wait_until):
    for number in range(int(os.environ.get("DRAINS", "30"))):
        round_of(pool, instance, reported, wait_until)
        print(number + 1, end=" ", flush=True)
