"""A drained instance loses the idle connections of live pools; lent ones end first."""

import socket

import pytest

from allocation.instances import availability
from allocation.placement import drains
from atributo_site.core.models.clock import database_now
from pools import ConnectionPool, StaticIpResolver
from pools.models import Backend, Pool
from pools.reporting.process_report import Report, avoid_drained

pytestmark = pytest.mark.django_db(transaction=True)
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
