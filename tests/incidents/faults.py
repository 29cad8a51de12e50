"""Faults that operators meet: how each comes about, what is said of it, and how it ends."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count

from allocation.atributo import Atributo
from allocation.instances.availability import heartbeat
from allocation.models import Drain, IdNumber
from allocation.placement import drains
from allocation.repairs import MoveDrainsOn, bury_dead_instances
from allocation.transactions import Client
from allocation.transactions.models import Lock, LockWait
from allocation.transactions.models import Transaction as Row
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.curator.integrity import all_rules
from atributo_site.models import RuleCheck
from atributo_site.status import machine, snapshot
from pools.models import Backend, Pool, PoolSnapshot
from queues import catalogue
from queues.models import Queue, QueuedJob, Slot, Station
from tests.factories.jobs import make_job, make_queue
from tests.factories.open_transactions import open_transaction
from tests.servers.valkey import ValkeyServer
from tests.servers.waiting import wait_until

STICKY = {"sticky_key": "ada", "routed_to": "web-1", "routed_epoch": 1, "rank": 10}
BACKEND = {"name": "a.example", "address": "10.0.0.1", "port": 80}


@dataclass(frozen=True)
class Fault:
    """`begin(site)` returns what ends it; a cure that is pressed ends it instead."""

    name: str
    begin: Callable
    kind: str
    says: str  # words that name the object
    button: str = "View details"
    is_cured: bool = False  # by pressing the button alone


def late_job(name="mail", **fields):
    queue = make_queue(name)
    Queue.objects.filter(pk=queue.pk).update(target_age_seconds=80)
    make_job(queue, due_at=database_now() - timedelta(seconds=90), **fields)
    return queue


def no_more_jobs():
    QueuedJob.objects.all().delete()


def busy(queue, slots):
    lease = {"holder": "a", "leased_until": database_now() + timedelta(minutes=9)}
    Slot.objects.filter(queue=queue, number__lt=slots).update(**lease)


def a_worker_is_killed(site):
    HeldLease.take("worker/w9", "host:9", 0)
    return lambda: Lease.objects.filter(role="worker/w9").update(expires_at=from_now(600))


def the_last_worker_is_gone(site):
    Lease.objects.filter(role="worker/w1").delete()
    return lambda: HeldLease.take("worker/w1", "host:2", 600)


def the_curator_is_gone(site):
    Lease.objects.filter(role="curator").update(expires_at=from_now(-1))
    return lambda: Lease.objects.filter(role="curator").update(expires_at=from_now(600))


def a_queue_is_paused(site):
    late_job()
    catalogue.pause("mail")


def nobody_serves_a_queue(site):
    Lease.objects.filter(role="worker/w1").update(facts={"queues": ["other"]})
    late_job()
    return no_more_jobs


def workers_are_busy_elsewhere(site):
    late_job()
    return no_more_jobs


def the_limit_is_reached(site):
    queue = late_job()
    Queue.objects.filter(pk=queue.pk).update(max_workers=1)
    busy(queue, 1)
    return no_more_jobs


def a_sticky_instance_is_away(site):
    Atributo().available("web-1")
    late_job(**STICKY)
    return no_more_jobs


def a_sticky_key_has_no_instance(site):
    late_job(**{**STICKY, "routed_to": None, "routed_epoch": None})
    return no_more_jobs


def the_workers_of_an_instance_are_busy(site):
    Atributo().available("web-1")
    Station.objects.create(pk="web-1", served_until=from_now(600))
    late_job(**STICKY)
    return no_more_jobs


def runs_are_lost(site):
    record("run.lost", "job:7")
    return Event.objects.filter(kind="run.lost").delete


def an_instance_dies(site):
    site.instance_with_keys("ada")
    heartbeat("ada", 0.001)
    wait_until(lambda: bury_dead_instances(database_now(), site.lease))


def a_drain_has_nowhere_to_go(site):
    ao = Atributo()
    ao.available("ada")
    ao.allocate_many(["job-1", "job-2"])
    drains.drain("ada")
    drains.force("ada")
    MoveDrainsOn()(database_now(), site.lease)

    def another_comes():
        ao.available("grace")
        MoveDrainsOn()(database_now(), site.lease)

    return another_comes


def a_drain_is_late(site):
    site.instance_with_keys("ada")
    drains.drain("ada", deadline_seconds=3600)
    Drain.objects.update(deadline_at=from_now(-90))
    return lambda: Drain.objects.update(deadline_at=from_now(90))


def no_instance_is_available(site):
    ao = Atributo()
    ao.available("ada")
    ao.unavailable("ada")
    return lambda: ao.available("ada")


def a_roll_back_fails(site):
    txn = open_transaction(Client())
    Row.objects.filter(pk=txn.id).update(status="stuck", error=f"bad image of {txn.id}")
    return lambda: Row.objects.update(status="rolled_back", finished_at=database_now())


def a_client_dies_without_a_curator(site):
    the_curator_is_gone(site)
    txn = open_transaction(Client())
    Row.objects.filter(pk=txn.id).update(expires_at=from_now(-3600))
    return lambda: Row.objects.update(status="rolled_back", finished_at=database_now())


def a_lock_is_orphaned(site):
    txn = open_transaction(Client())
    txn.lock("accounts", "ada")
    Row.objects.filter(pk=txn.id).update(status="completed", finished_at=database_now())
    return Lock.objects.all().delete


def a_lock_is_held(site):
    holder, waiter = open_transaction(Client(), owner="grace"), open_transaction(Client())
    holder.lock("accounts", "ada")
    document = Lock.objects.get().document_id
    LockWait.objects.create(document_id=document, transaction_id=waiter.id, mode="exclusive")
    LockWait.objects.update(since=from_now(-60))
    return LockWait.objects.all().delete


def redis_is_down(site):
    address = site.settings.REDIS_URL
    with ValkeyServer() as server:
        site.settings.REDIS_URL = server.url
        assert "redis.degraded" not in site.look()
    return lambda: setattr(site.settings, "REDIS_URL", address)


def redis_may_drop_messages(site):
    before = site.redis.config_get("maxmemory-policy")["maxmemory-policy"]
    site.redis.config_set("maxmemory-policy", "allkeys-lru")
    site.at_the_end(lambda: site.redis.config_set("maxmemory-policy", before))
    return lambda: site.redis.config_set("maxmemory-policy", before)


def dns_is_dead(site):
    pool = Pool.objects.create(name="svc", domain="svc.example")
    Pool.objects.filter(pk=pool.pk).update(state="failed", last_error="svc.example: NXDOMAIN")
    return lambda: Pool.objects.update(state="running", last_error="")


def most_backends_disappear_at_once(site):
    Pool.objects.create(
        name="svc", domain="svc.example", state="running", waiting=3, waiting_since=database_now()
    )
    return lambda: Pool.objects.update(waiting=0, waiting_since=None)


def a_backend_refuses_connections(site):
    pool = {
        "state": "running",
        "backends": {"k1": BACKEND, "k2": {**BACKEND, "address": "10.0.0.2"}},
        "why_dead": {"k1": "connection refused"},
        "options": {"domain": "svc.example"},
    }
    PoolSnapshot.objects.create(process="web", body={"pool": {"p": pool}})
    return PoolSnapshot.objects.all().delete


def a_backend_is_not_permitted(site):
    pool = Pool.objects.create(name="svc", domain="svc.example", state="running")
    Backend.objects.create(pool=pool, key="k", instance_id="169.254.0.1:80", port=80)
    Backend.objects.update(state="refused")
    return Backend.objects.all().delete


def the_clock_is_wrong(site):
    here, right = machine._here, database_now()
    site.monkeypatch.setattr(machine, "_here", lambda: right + timedelta(seconds=40))
    site.monkeypatch.setattr(machine, "database_now", lambda: right)

    def forget():
        site.monkeypatch.setattr(machine, "_here", here)
        site.monkeypatch.setattr(machine, "database_now", database_now)

    return forget


def the_clock_went_back(site):
    mark = int(database_now().timestamp() * 1000) + 7_200_000
    held = {"cluster_size": 10, "high_water_ms": mark}
    IdNumber.objects.update_or_create(pk=9, defaults=held)
    return IdNumber.objects.all().delete


def a_rule_is_broken(site):
    now = database_now()
    words = {"sentence": "Every key has one instance", "broken": ["key ada"], "took_ms": 1}
    rule = all_rules()[0].name
    RuleCheck.objects.create(pk=rule, checked_at=now, changed_at=now, **words)
    return RuleCheck.objects.all().delete


def a_process_restarts_again_and_again(site):
    child = {"name": "web", "restarts": 3, "last_exit": "signal 9"}
    HeldLease.take("supervisor/up", "node:up", 600, children=[child])
    return Lease.objects.filter(role="supervisor/up").delete


def the_database_is_slow(site):
    site.monkeypatch.setattr(snapshot, "monotonic", count(step=4).__next__)

    def forget():
        site.monkeypatch.setattr(snapshot, "monotonic", time.monotonic)
        site.monkeypatch.setattr(machine, "SLOW_SECONDS", 60)  # a busy machine is no fault

    return forget


def the_disk_is_full(site):
    before = site.settings.ATRIBUTO
    site.settings.ATRIBUTO = replace(before, least_free_mb=100_000_000)
    return lambda: setattr(site.settings, "ATRIBUTO", before)


def a_setting_is_mistyped(site):
    before = site.settings.ATRIBUTO
    for name in [name for name in os.environ if name.startswith("ATRIBUTO_")]:
        site.monkeypatch.delenv(name)  # some are of the tests alone
    site.monkeypatch.setenv("ATRIBUTO_WROKERS", "4")
    site.settings.ATRIBUTO = replace(before, mode="local")
    return lambda: setattr(site.settings, "ATRIBUTO", before)


def somebody_guesses_passwords(site):
    for _ in range(10):
        site.wrong_log_in("grace")
    return Event.objects.filter(kind="user.login_failed").delete


LATE, STICKY_LATE = "queue.late", "queue.sticky_waiting"
FAULTS = [
    Fault("worker killed", a_worker_is_killed, "worker.silent", "Worker w9 is silent"),
    Fault("no worker", the_last_worker_is_gone, "workers.missing", "No worker is running"),
    Fault("curator gone", the_curator_is_gone, "curator.missing", "No curator is active"),
    Fault("queue paused", a_queue_is_paused, "queue.paused", "mail", "Resume mail", True),
    Fault("queue not served", nobody_serves_a_queue, LATE, "No worker serves queue mail"),
    Fault("workers busy", workers_are_busy_elsewhere, LATE, "Queue mail is late"),
    Fault("limit reached", the_limit_is_reached, LATE, "The limit is reached", "Run 2 at once"),
    Fault("sticky away", a_sticky_instance_is_away, STICKY_LATE, "serves web-1", "Open web-1"),
    Fault("sticky nowhere", a_sticky_key_has_no_instance, STICKY_LATE, "mail", "Open the inst"),
    Fault("sticky busy", the_workers_of_an_instance_are_busy, STICKY_LATE, "web-1", "Open web-1"),
    Fault("runs lost", runs_are_lost, "runs.lost", "1 run was lost"),
    Fault("instance dead", an_instance_dies, "instance.dead", "ada is dead", "Drain ada", True),
    Fault("drain stuck", a_drain_has_nowhere_to_go, "drain.stuck", "drain of ada", "Open the inst"),
    Fault("drain late", a_drain_is_late, "drain.overdue", "drain of ada", "Open ada"),
    Fault("none available", no_instance_is_available, "instances.unavailable", "ada", "Open the"),
    Fault(
        "transaction stuck", a_roll_back_fails, "transactions.stuck", "bad image of", "Roll back"
    ),
    Fault("client dead", a_client_dies_without_a_curator, "transactions.overdue", "1 transaction"),
    Fault("lock orphaned", a_lock_is_orphaned, "locks.orphaned", "accounts/ada", "Release acc"),
    Fault("lock held", a_lock_is_held, "lock.held", "accounts/ada", "Release accounts/ada"),
    Fault("Redis down", redis_is_down, "redis.degraded", "Redis does not answer"),
    Fault("Redis policy", redis_may_drop_messages, "redis.degraded", "allkeys-lru"),
    Fault("DNS dead", dns_is_dead, "name.troubled", "svc.example: NXDOMAIN", "Look up svc now"),
    Fault("DNS in doubt", most_backends_disappear_at_once, "name.troubled", "svc", "Look up svc"),
    Fault("backend dead", a_backend_refuses_connections, "backends.dead", "10.0.0.1:80"),
    Fault("backend refused", a_backend_is_not_permitted, "backends.refused", "1 backend"),
    Fault("clock skew", the_clock_is_wrong, "clock.skewed", "differ by 40s"),
    Fault("clock back", the_clock_went_back, "job_ids.ahead", "2h ahead"),
    Fault("rule broken", a_rule_is_broken, "rule.broken", "key ada"),
    Fault("restarts", a_process_restarts_again_and_again, "process.restarted", "web was restarted"),
    Fault("database slow", the_database_is_slow, "database.slow", "The database took 4s"),
    Fault("disk full", the_disk_is_full, "disk.full", "almost full"),
    Fault("bad settings", a_setting_is_mistyped, "setting.unknown", "ATRIBUTO_WROKERS"),
    Fault("passwords", somebody_guesses_passwords, "log_ins.failing", "grace"),
]
