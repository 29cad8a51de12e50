"""The faults of a running site that take longer: each is seen, cured in a browser, and over."""

import threading
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from statistics import median

import pytest
from django.db import connections
from django.test import Client as Visitor
from redis import Redis

from allocation.atributo import Atributo
from allocation.placement import drains
from allocation.transactions import Client, Transaction
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from atributo_site.models import Incident
from pools import configuration
from queues import schedules
from queues.jobs import actions
from queues.models import QueuedJob
from tests.factories.open_transactions import open_transaction
from tests.fixtures.users import log_in
from tests.incidents.real_site import ACT, PATIENCE, RealSite
from tests.queues.conftest import probe, service_roots  # noqa: F401 # fixtures
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.soak, pytest.mark.only_on("sqlite")]
SEND = "main form[method=post] button[type=submit]"
LONG = {"sleep": 600}
MOST_MB = "100000000"


@pytest.fixture
def site(probe, spawn, page_as, dns_server, settings, valkey):  # noqa: F811
    settings.ATRIBUTO = replace(settings.ATRIBUTO, dns_server_networks=("127.0.0.0/8:*",))
    settings.REDIS_URL = valkey.url
    Atributo().available("grace")
    site = RealSite(spawn, page_as("admin"), dns_server, REDIS_URL=valkey.url)
    site.valkey = valkey
    return site


def test_each_fault_is_seen_cured_and_over(site, settings):
    the_limit_is_reached(site)
    workers_are_busy_elsewhere(site)
    nobody_serves_a_queue(site)
    no_worker_is_left(site)
    a_run_is_lost(site)
    no_instance_is_available(site)
    a_sticky_key_has_no_instance(site)
    a_drain_has_nowhere_to_go(site)
    a_lock_is_held(site)
    a_client_dies_while_no_curator_is_there(site)
    a_backend_is_not_permitted(site)
    a_schedule_fails_again_and_again(site)
    somebody_guesses_passwords(site)
    redis_may_drop_messages(site)
    redis_is_down(site)
    the_disk_is_almost_full(site, settings)
    assert median(site.clicks.values()) <= 2, site.clicks


def the_limit_is_reached(site):
    site.stop_worker()
    site.start_worker("--concurrency", "2")
    queue = site.queue("single")
    with long_job(queue):
        second = queue.push(ACT)
        site.press(site.sees("queue.late", "single", "The limit is reached"))
        site.is_over("queue.late")
        wait_until(QueuedJob.objects.filter(pk=second, status="complete").exists, PATIENCE)
    site.stop_worker()
    site.start_worker()


def workers_are_busy_elsewhere(site):
    queue = site.queue("imports")
    with long_job(site.queue("exports")):
        queue.push(ACT)
        site.look(site.sees("queue.late", "imports", "busy with other queues"), "imports")
    site.is_over("queue.late", "workers busy")


def nobody_serves_a_queue(site):
    site.stop_worker()
    site.start_worker("only-this")
    site.queue("reports").push(ACT)
    site.look(site.sees("queue.late", "No worker serves queue reports"), "reports")
    site.stop_worker()
    site.start_worker()
    site.is_over("queue.late", "queue not served")


def no_worker_is_left(site):
    site.stop_worker()
    site.look(site.sees("workers.missing", "No worker is running"), "worker")
    site.start_worker()
    site.is_over("workers.missing")


def a_run_is_lost(site):
    """It counts for an hour."""
    with long_job(site.queue("slow")):
        site.kill_worker()
        site.start_worker()
        site.look(site.sees("runs.lost", "1 run was lost"), "job")
    lost = Event.objects.filter(kind="run.lost")
    lost.update(at=database_now() - timedelta(hours=2))
    site.is_over("runs.lost")


def no_instance_is_available(site):
    Atributo().unavailable("grace")
    site.press(site.sees("instances.unavailable", "grace"))
    make_available(site, "grace")
    site.is_over("instances.unavailable")


def a_sticky_key_has_no_instance(site):
    Atributo().unavailable("grace")
    queue = site.queue("ledgers")
    job = queue.push(ACT, sticky_key="customer-9")
    site.press(site.sees("queue.sticky_waiting", "ledgers"))
    make_available(site, "grace")
    site.is_over("queue.sticky_waiting")
    wait_until(QueuedJob.objects.filter(pk=job, status="complete").exists, PATIENCE)


def a_drain_has_nowhere_to_go(site):
    ao = Atributo()
    ao.unavailable("grace")
    ao.available("ada")
    ao.allocate_many(["key-1", "key-2"])
    drains.drain("ada", moves_per_minute=600)
    site.press(site.sees("drain.stuck", "ada"))
    make_available(site, "grace")
    site.is_over("drain.stuck")
    wait_until(lambda: not ao.jobs("ada"), PATIENCE)


def a_lock_is_held(site):
    holder, waiter = open_transaction(Client(), owner="grace"), open_transaction(Client())
    holder.lock("accounts", "ada")
    waiting = threading.Thread(target=wait_for_lock, args=[waiter], daemon=True)
    waiting.start()
    site.press(site.sees("lock.held", "accounts/ada", "grace"))
    site.hand.fill("reason", "its owner is gone")
    site.hand.click(SEND)
    site.is_over("lock.held")
    waiting.join(PATIENCE)
    assert not waiting.is_alive()
    waiter.roll_back()


def a_client_dies_while_no_curator_is_there(site):
    """The page says it by itself; nobody is there to store it."""
    site.kill_curator()
    dead = Transaction(Client(), owner="grace")
    page, said = site.hand.page, "1 transaction is overdue"
    wait_until(lambda: said in page.goto("/incidents/").text(), PATIENCE)
    page.locator(f"tr:has-text('{said}') td[data-label='What helps'] a").click()
    site.start_curator()
    site.clicks["transactions.overdue"] = 1
    wait_until(lambda: said not in page.goto("/incidents/").text(), PATIENCE)
    assert dead.id and not Incident.objects.unresolved().exists()


def a_backend_is_not_permitted(site):
    server = f"{site.nameserver.address}:{site.nameserver.port}"
    site.nameserver.set("_http._tcp.odd.example", "SRV", [(0, 0, 80, "t1.odd.example")], 1)
    site.nameserver.set("t1.odd.example", "A", ["169.254.0.1"], 1)
    configuration.watch("odd", domain="odd.example", nameservers=[server], ttl_floor_ms=1000)
    site.look(site.sees("backends.refused", "1 backend is refused"), "169.254.0.1")
    site.nameserver.set("t1.odd.example", "A", ["10.0.0.1"], 1)
    site.is_over("backends.refused")
    configuration.forget("odd")


def a_schedule_fails_again_and_again(site):
    site.queue("nightly")
    schedules.create(
        "nightly",
        script=ACT,
        data={"odd": True},
        queue="nightly",
        rule={"every": 1000},
        pause_after_failures=2,
    )
    row = site.sees("schedule.paused", "nightly")
    schedules.change("nightly", data={})
    site.press(row)
    site.is_over("schedule.paused")
    schedules.delete("nightly")


def somebody_guesses_passwords(site):
    """Ten of them count for ten minutes."""
    for _ in range(10):
        log_in(Visitor(), "guessed", "grace")
    site.look(site.sees("log_ins.failing", "grace"), "grace")
    failed = Event.objects.filter(kind="user.login_failed")
    failed.update(at=database_now() - timedelta(minutes=11))
    site.is_over("log_ins.failing")


def redis_may_drop_messages(site):
    with Redis.from_url(site.valkey.url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        site.look(site.sees("redis.degraded", "allkeys-lru"), "redis")
        client.config_set("maxmemory-policy", "noeviction")
    site.is_over("redis.degraded", "Redis policy")


def redis_is_down(site):
    site.valkey.stop()
    site.look(site.sees("redis.degraded", "Redis does not answer"), "redis")
    site.valkey.start()
    site.is_over("redis.degraded")


def the_disk_is_almost_full(site, settings):
    """No test may fill it; the site asks for more than there is."""
    before = settings.ATRIBUTO
    site.stop_curator()
    site.start_curator(ATRIBUTO_LEAST_FREE_MB=MOST_MB)
    settings.ATRIBUTO = replace(before, least_free_mb=int(MOST_MB))
    site.look(site.sees("disk.full", "almost full"), "disk")
    settings.ATRIBUTO = before
    site.stop_curator()
    site.start_curator()
    site.is_over("disk.full")


@contextmanager
def long_job(queue):
    """Keep the worker busy until the block ends; then a person aborts it."""
    job = queue.push(ACT, LONG)
    running = QueuedJob.objects.filter(pk=job, status="progress")
    wait_until(running.exists, PATIENCE)
    yield job
    actions.abort(job)
    wait_until(lambda: not running.exists(), PATIENCE)


def make_available(site, instance):
    """The page of the instances was opened by the button of the incident."""
    site.hand.page.locator('main form[action="/instances/"] [name=id]').fill(instance)
    site.hand.click('main form[action="/instances/"] button[type=submit]')


def wait_for_lock(transaction):
    transaction.lock("accounts", "ada", wait=PATIENCE)
    connections.close_all()
