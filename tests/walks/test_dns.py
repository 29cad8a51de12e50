"""Walk 4: a new target takes keys; one that leaves drains; while DNS is dead all stays."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from allocation.atributo import Atributo
from allocation.models import Instance
from pools import configuration
from pools.models import Pool
from tests.pools.site.watching import SRV

pytestmark = pytest.mark.django_db(transaction=True)
NETWORKS = "127.0.0.0/8:*"


@pytest.fixture
def zone(dns_server, settings, spawn):
    """zone(1, 2): exactly these targets stand in the watched zone."""
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=(NETWORKS,))

    def answer(*numbers):
        dns_server.set(SRV, "SRV", [(0, 0, 80, f"t{n}.example") for n in numbers], 1)
        for n in numbers:
            dns_server.set(f"t{n}.example", "A", [f"10.0.0.{n}"], 1)

    answer(1, 2)
    configuration.watch(
        "svc",
        domain="svc.example",
        nameservers=[f"127.0.0.1:{dns_server.port}"],
        recovery={"default": {"timeout": 500, "retries": 5, "delay": 10}},
        ttl_floor_ms=1000,
    )
    spawn("run_curator", "--name", "healer", env={"ATRIBUTO_DNS_SERVER_NETWORKS": NETWORKS})
    return answer


def states(*numbers):
    found = {row.pk: row.state for row in Instance.objects.all()}
    return [found.get(f"10.0.0.{n}:80") for n in numbers]


def test_the_zone_decides_where_new_keys_go(zone, dns_server, page_as, wait_until):
    ao = Atributo()
    wait_until(lambda: states(1, 2) == ["available", "available"])
    zone(1, 2, 3)
    wait_until(lambda: states(3) == ["available"])
    keys = ao.allocate_many([f"key{n}" for n in range(30)])
    held = sorted(key for key, found in keys.items() if found.instance_id == "10.0.0.3:80")
    assert held

    zone(1, 2)
    wait_until(lambda: states(3) == ["draining"])
    page = page_as("viewer")
    page.goto("/instances/10.0.0.3%3A80/")
    expect(page.get_by_text("draining").first).to_be_visible()
    expect(page.get_by_role("link", name=held[0], exact=True)).to_be_visible()
    assert ao.allocate(held[0]).instance_id == "10.0.0.3:80"  # what is there stays
    fresh = ao.allocate_many([f"new{n}" for n in range(30)])
    assert {found.instance_id for found in fresh.values()} == {"10.0.0.1:80", "10.0.0.2:80"}

    dns_server.fault("*", "*", "drop")
    wait_until(lambda: Pool.objects.get().stale_since is not None)
    dns_server.wait_for_queries(len(dns_server.queries) + 4)
    assert states(1, 2, 3) == ["available", "available", "draining"]
