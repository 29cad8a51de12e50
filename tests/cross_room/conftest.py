"""Fixtures for tests of several rooms: the bank, stations and their workers."""

import os
from collections import Counter
from dataclasses import replace

import pytest

import queues
from allocation.repairs import REPAIRS as ALLOCATION_REPAIRS
from allocation.transactions import Client
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now
from queues.jobs.routing import route_misrouted
from queues.maintenance.repairs import REPAIRS
from queues.models import Station
from queues.services import installation
from queues.worker.post import Post
from queues.worker.presence import WorkerPresence
from tests.queues.conftest import *  # noqa: F403
from tests.queues.conftest import QUICK

TRANSFER = {"mount": "/bank", "name": "transfer"}
OPENING = {"owner": "ada", "balance": 1000, "transfers": 0}


class Bank:
    """Show the accounts as everybody sees them who respects locks."""

    script = TRANSFER

    def __init__(self, queue):
        self.queue = queue
        self.client = Client()
        for name in ("ada", "grace"):
            self.client.put("bank_accounts", name, {**OPENING, "owner": name})

    def order(self, **changes):
        return {"from": "ada", "to": "grace", "amount": 10, "pause_ms": 0, **changes}

    def push(self, *, order=None, **options):
        return self.queue.get(self.queue.push(TRANSFER, order or self.order(), **options))

    def balances(self):
        """Return committed values only: a key that is held raises an error."""
        return [self.client.get("bank_accounts", name)["balance"] for name in ("ada", "grace")]

    def receipts(self):
        return self.client.list("bank_receipts").all()


@pytest.fixture
def bank(service_roots, transactional_db):
    installation.install("bank", "/bank", setup=False)
    return Bank(queues.create("money", max_workers=1))


@pytest.fixture
def run_repairs(probe):
    """Return a function that runs the repairs of queues and instances once."""
    held = {}

    def run():
        held["lease"] = HeldLease.take("curator", "test", 3600) or held["lease"]
        now = database_now()
        for repair in [*ALLOCATION_REPAIRS, *REPAIRS]:
            repair.run(now, held["lease"])
        route_misrouted(held["lease"])  # the repair pauses after a look that took long

    return run


@pytest.fixture
def serve(probe, hands, settings):
    """Return a function: serve("a") → the post of a worker in this process; post.work() works.

    Nobody renews its lease, so it must outlast the test on the slowest machine.
    """
    settings.ATRIBUTO = replace(settings.ATRIBUTO, worker_lease_ms=600_000)
    return lambda instance_id, name="": Served(instance_id, name or instance_id, hands)


class Served(Post):
    def __init__(self, instance_id, name, hands):
        super().__init__(instance_id, WorkerPresence(name, {"instance": instance_id}))
        self._hands = hands
        self.presence.take()
        self.open()

    def work(self):
        """Run what is due, as its worker would."""
        while found := self.free_slots():
            for name, number in found:
                self._hands.pump_at(self, name, number)

    def take(self, name="work", count=1):
        """Reserve without running; return the ids."""
        from queues.runs.slots import acquire

        slot = acquire(name, 0, self.presence.holder)
        batch = self.reserve(slot, count)
        return slot, [job.id for job in batch.jobs] if batch else []


@pytest.fixture
def away():
    """Return a function: away("a") leaves it without a worker and ends its lease."""
    from allocation.models import Instance
    from atributo_site.core.models.clock import from_now

    def make(instance_id, seconds=3600):
        Station.objects.filter(pk=instance_id).update(served_until=from_now(-seconds))
        Instance.objects.filter(pk=instance_id).update(lease_until=from_now(-seconds))

    return make


@pytest.fixture
def station_worker(probe, process_environment, spawn, wait_until):
    """Return a function: station_worker("a", "b") → running `manage.py worker --instance ID`."""
    environment = {name: os.environ[name] for name in [*QUICK, "ATRIBUTO_SERVICE_ROOTS"]}

    def start(*instance_ids, name="", **settings):
        before = times_served()
        processes = [
            spawn("worker", "--instance", each, "--name", name or each, env=environment | settings)
            for each in instance_ids
        ]
        expected = before + Counter(f"instance:{each}" for each in instance_ids)
        wait_until(lambda: times_served() >= expected, message=f"no posts at {instance_ids}")
        return processes if len(processes) > 1 else processes[0]

    return start


@pytest.fixture
def curator_process(probe, process_environment, spawn, wait_until):
    environment = {name: os.environ[name] for name in [*QUICK, "ATRIBUTO_SERVICE_ROOTS"]}

    def start():
        process = spawn("run_curator", env=environment)
        wait_until(Lease.objects.held().filter(role="curator").exists)
        return process

    return start


def times_served():
    """Return station → how often a worker has opened it, which is the last it reports."""
    served = Event.objects.filter(kind="station.served")
    return Counter(served.values_list("subject", flat=True))
