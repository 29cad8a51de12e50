"""Faults of a running site, one after the other: each is seen, cured in a browser, and over."""

from dataclasses import replace
from statistics import median

import pytest
from playwright.sync_api import expect

import queues
from allocation.atributo import Atributo
from allocation.transactions import Client
from allocation.transactions.engine.roll_back import mark_stuck
from allocation.transactions.models import Transaction as Row
from atributo_site.models import Incident
from pools import configuration
from queues.models import QueuedJob
from tests.factories.open_transactions import open_transaction
from tests.incidents.real_site import ACT, PATIENCE, RealSite
from tests.queues.conftest import probe, service_roots  # noqa: F401 # fixtures
from tests.servers.waiting import wait_until

# What a person sees does not depend on the database; the answers are tested on both.
pytestmark = pytest.mark.only_on("sqlite")
SEND = "main form[method=post] button[type=submit]"
DRAIN = 'main form[action$="/drain"] button[type=submit]:not([name=preview])'


@pytest.fixture
def site(probe, spawn, page_as, dns_server, settings):  # noqa: F811
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=("127.0.0.0/8:*",))
    Atributo().available("grace")
    return RealSite(spawn, page_as("admin"), dns_server)


def test_each_fault_is_seen_cured_and_over(site, tmp_path):
    a_queue_is_paused(site)
    a_script_raises(site, str(tmp_path / "ran"))
    scripts_meet_their_limits(site)
    an_instance_dies(site)
    sticky_jobs_wait_for_an_instance(site)
    a_roll_back_fails(site)
    a_name_is_not_found(site)
    the_worker_is_killed(site)
    the_curator_is_killed(site)
    assert median(site.clicks.values()) <= 2, site.clicks


def a_queue_is_paused(site):
    queue = site.queue("mail")
    queues.pause("mail")
    queue.push(ACT)
    site.press(site.sees("queue.paused", "mail"))
    site.is_over("queue.paused")
    wait_until(QueuedJob.objects.filter(status="complete").exists, PATIENCE)


def a_script_raises(site, ran):
    """It fails five times; then its cause is gone."""
    queues.get("mail").push_many(ACT, [{"file": ran, "fail_first": 5}] * 5, max_failures=0)
    site.press(site.sees("jobs.failing", "told to fail"), SEND)
    site.is_over("jobs.failing")
    assert not QueuedJob.objects.filter(status="failed").exists()


def scripts_meet_their_limits(site):
    """A retry would not help, so each is only named and leads to its jobs."""
    orders = {"timed out after 100ms": {"sleep": 60}, "MemoryError": {"hold_mb": 4096}}
    for said, order in orders.items():
        queues.get("mail").push_many(ACT, [order] * 5, max_failures=0, timeout=100)
        row = site.sees("jobs.failing", said)
        row.locator("td[data-label=What] a").click()
        expect(site.hand.page.locator("#jobs")).to_contain_text(said)
        QueuedJob.objects.filter(status="failed").delete()
        site.hand.clicks = 1
        site.is_over("jobs.failing")


def an_instance_dies(site):
    ao = Atributo()
    ao.unavailable("grace")
    ao.available("ada", lease_seconds=1)
    ao.allocate_many(["key-1", "key-2"])
    ao.available("grace")
    site.press(site.sees("instance.dead", "ada"))
    site.is_over("instance.dead")


def sticky_jobs_wait_for_an_instance(site):
    """Nobody serves it; where its keys go there is a worker."""
    ao = Atributo()
    ao.unavailable("grace")
    ao.available("edsger")
    ao.allocate("customer-7")
    ao.available("grace")
    job = site.queue("ledgers").push(ACT, sticky_key="customer-7")
    site.press(site.sees("queue.sticky_waiting", "ledgers", "edsger"))
    site.hand.fill("moves_per_minute", "60")
    site.hand.click(DRAIN)
    site.is_over("queue.sticky_waiting")
    wait_until(QueuedJob.objects.filter(pk=job, status="complete").exists, PATIENCE)


def a_roll_back_fails(site):
    number = open_transaction(Client()).id
    for _ in range(12):  # the curator's next try is then five minutes away
        mark_stuck(number, Row.objects.get(pk=number).epoch, OSError("no space left on device"))
    site.press(site.sees("transactions.stuck", str(number), "no space left"))
    site.hand.fill("reason", "there is space again")
    site.hand.click(SEND)
    site.is_over("transactions.stuck")
    assert Row.objects.get(pk=number).status == "rolled_back"


def a_name_is_not_found(site):
    server = f"{site.nameserver.address}:{site.nameserver.port}"
    configuration.watch("svc", domain="svc.example", nameservers=[server], ttl_floor_ms=1000)
    row = site.sees("name.troubled", "svc.example")
    site.nameserver.set("_http._tcp.svc.example", "SRV", [(0, 0, 80, "t1.example")], 10)
    site.nameserver.set("t1.example", "A", ["10.0.0.1"], 10)
    site.press(row)
    site.is_over("name.troubled")


def the_worker_is_killed(site):
    site.kill_worker()
    site.look(site.sees("worker.silent", "w1"), "w1")
    site.start_worker()
    site.is_over("worker.silent")


def the_curator_is_killed(site):
    """Nobody is left to store it; the page says it all the same."""
    site.kill_curator()
    page = site.hand.page
    wait_until(lambda: "No curator is active" in page.goto("/incidents/").text(), PATIENCE)
    page.locator("tr:has-text('No curator is active') td[data-label='What helps'] a").click()
    expect(page.locator("main")).to_contain_text("run_curator")
    site.start_curator()
    site.clicks["curator.missing"] = 1
    wait_until(lambda: "No curator is active" not in page.goto("/incidents/").text(), PATIENCE)
    assert not Incident.objects.unresolved().filter(kind="curator.missing").exists()
