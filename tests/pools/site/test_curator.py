"""A real curator process, a real nameserver and real time, as an operator sees them."""

from dataclasses import replace

import pytest

from pools import configuration
from pools.models import BackendChange, Pool, PoolSnapshot
from tests.pools.site.watching import SRV, states

pytestmark = pytest.mark.django_db(transaction=True)
ENVIRONMENT = {"ATRIBUTO_DNS_SERVER_NETWORKS": "127.0.0.0/8:*"}


@pytest.fixture
def curator(spawn, dns_server, settings):
    """Return a function: curator(1, 2, 3) → a curator that has made instances of these targets."""
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=("127.0.0.0/8:*",))

    def start(*numbers, timeout_ms=5_000):
        targets(dns_server, *numbers)
        configuration.watch(
            "svc",
            domain="svc.example",
            nameservers=[f"127.0.0.1:{dns_server.port}"],
            recovery={"default": {"timeout": timeout_ms, "retries": 5, "delay": 10}},
            ttl_floor_ms=1000,
        )
        return spawn("run_curator", "--name", "c", env=ENVIRONMENT)

    return start


def targets(server, *numbers):
    server.set(SRV, "SRV", [(0, 0, 80, f"t{n}.example") for n in numbers], 1)
    for n in numbers:
        server.set(f"t{n}.example", "A", [f"10.0.0.{n}"], 1)


def of(*words):
    return sorted(key for key, state in states().items() if state in words)


def leaving():
    """Return the leaving ones; without keys a drain is over with the next sweep."""
    return of("draining", "drained")


def test_a_target_that_leaves_the_zone_drains(curator, dns_server, wait_until):
    curator(1, 2, 3)
    wait_until(lambda: len(of("available")) == 3)
    targets(dns_server, 1, 2)
    wait_until(lambda: leaving() == ["10.0.0.3:80"])
    assert of("available") == ["10.0.0.1:80", "10.0.0.2:80"]
    wait_until(lambda: PoolSnapshot.objects.filter(process="curator/c").exists())


def test_dead_nameservers_drain_nothing(curator, dns_server, wait_until):
    curator(1, 2, timeout_ms=300)
    wait_until(lambda: len(of("available")) == 2)
    dns_server.fault("*", "*", "drop")
    wait_until(lambda: Pool.objects.get().stale_since is not None)
    seen = len(dns_server.queries)
    dns_server.wait_for_queries(seen + 4)
    assert len(of("available")) == 2


def test_half_of_the_targets_wait_for_a_confirmation(curator, dns_server, wait_until):
    curator(1, 2, 3, 4)
    wait_until(lambda: len(of("available")) == 4)
    targets(dns_server, 1, 2)
    wait_until(lambda: len(leaving()) == 2)
    kinds = list(BackendChange.objects.order_by("id").values_list("kind", flat=True))
    assert kinds[-4:] == ["waiting", "settled", "gone", "gone"]
