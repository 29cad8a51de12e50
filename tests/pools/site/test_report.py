"""A process reports what its live pools look like."""

import pytest

from allocation.instances import availability
from allocation.instances.holds import left_on
from atributo_site.core.models.clock import database_now
from pools import ConnectionPool, StaticIpResolver
from pools.models import Backend, Pool, PoolSnapshot
from pools.net.runtime.monitor import PoolMonitor
from pools.reporting.process_report import Report, reporting
from tests.pools.echo import pooling
from tests.pools.live import LONG

RECOVERY = {"default": {"timeout": 100, "retries": 0, "delay": 1}}


class Quiet:
    def __init__(self, backend):
        pass

    def close(self):
        pass


@pytest.fixture
def pool():
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": 9}])
    resolver.start()
    found = ConnectionPool(
        constructor=lambda backend: None, domain="svc.example", recovery=RECOVERY,
        spares=0, maximum=1, resolver=resolver,
    )  # fmt: skip
    yield found
    found.stop()
    resolver.stop()


@pytest.mark.django_db
def test_a_process_without_pools_reports_nothing():
    Report("idle", PoolMonitor()).step(database_now())
    assert not PoolSnapshot.objects.exists()


@pytest.mark.django_db
def test_a_process_with_a_pool_reports_it_again_and_again_in_one_row(pool):
    report = Report("busy")
    report.step(database_now())
    report.step(database_now())
    body = PoolSnapshot.objects.get(process="busy").body
    assert "svc.example" in [found["options"]["domain"] for found in body["pool"].values()]
    report.leave()
    assert not PoolSnapshot.objects.exists()


@pytest.mark.django_db
def test_claims_of_pools_beyond_the_picture_are_held_too(monkeypatch):
    monkeypatch.setattr("pools.reporting.process_report.MOST_OF_A_KIND", 1)
    availability.make_available("127.0.0.1:9")
    named = Pool.objects.create(name="svc", domain="svc.example")
    with pooling(9, constructor=Quiet) as first, pooling(9, constructor=Quiet) as second:
        claims = [pool.claim(timeout=LONG) for pool in (first, second)]
        for claim in claims:
            claim.wait()
        [key] = first.resolver.list()
        Backend.objects.create(
            pool=named, key=key, instance_id="127.0.0.1:9", address="127.0.0.1", port=9
        )
        report = Report("busy")
        report.step(database_now())
        assert left_on("127.0.0.1:9").open_claims == 2
        report.leave()


@pytest.mark.django_db(transaction=True)
def test_a_program_with_its_own_loop_reports_from_a_thread(pool, wait_until):
    with reporting("mailer"):
        wait_until(lambda: PoolSnapshot.objects.filter(process="mailer").exists())
    wait_until(lambda: not PoolSnapshot.objects.exists())
