"""Queues with the probe service installed, and ways to have their jobs run."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.db.models import F, Q

import queues
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from queues.children.child_process import Workhorse
from queues.maintenance.repairs import REPAIRS
from queues.models import QueuedJob, Slot
from queues.services import installation
from tests.queues.inline_worker import Hands
from tests.queues.worker.child_calls import messages, work

ROOT = Path(__file__).parent / "services"
# Whoever lives keeps its lease though the machine stands still; `expire_leases` is for the dead.
LEASE_MS = 30_000
QUICK = {"ATRIBUTO_WORKER_LEASE_MS": str(LEASE_MS), "ATRIBUTO_WORKER_HEARTBEAT_MS": "200"}


@pytest.fixture
def service_roots(settings, monkeypatch):
    roots = (*django_settings.ATRIBUTO.service_roots, str(ROOT))
    monkeypatch.setenv("ATRIBUTO_SERVICE_ROOTS", ",".join(roots))
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    settings.ATRIBUTO = replace(
        settings.ATRIBUTO, service_roots=roots, worker_lease_ms=LEASE_MS, worker_heartbeat_ms=200
    )
    return roots


@pytest.fixture
def probe(service_roots, transactional_db):
    """The mount of the probe service."""
    return installation.install("probe", "/probe", setup=False).mount


@pytest.fixture
def act(probe):
    return {"mount": probe, "name": "act"}


@pytest.fixture
def queue(probe):
    return queues.create("work", max_workers=1)


@pytest.fixture
def hands(probe):
    """A worker inside this process: `hands.drain()` runs whatever is due."""
    worker = Hands()
    yield worker
    worker.close()


@pytest.fixture
def worker(probe, process_environment, worker_process, monkeypatch, wait_until):
    """worker("a", …) → a running worker of that name, with further arguments of the command."""

    def start(name="a", *arguments):
        process = worker_process("--name", name, *arguments, env=environment(monkeypatch))
        present = Lease.objects.held().filter(role=f"worker/{name}")
        wait_until(present.exists)
        return process

    return start


def environment(monkeypatch):
    import os

    names = [*QUICK, "ATRIBUTO_SERVICE_ROOTS"]
    return {name: os.environ[name] for name in names}


@pytest.fixture
def sweep(probe):
    """Do what the active curator does, once."""

    def run():
        lease = HeldLease.take("curator", "test", 3600) or held["lease"]
        held["lease"] = lease
        now = database_now()
        return {repair.name: repair.run(now, lease) for repair in REPAIRS}

    held = {}
    return run


@pytest.fixture
def pass_time(probe):
    """Make everything that was due in the future due now."""

    def forward(days=2):
        later = timedelta(days=days)
        QueuedJob.objects.waiting().update(due_at=F("due_at") - later)

    return forward


@pytest.fixture
def expire_leases():
    """expire_leases() ends all slots' leases, expire_leases(process) those of one."""

    def expire(process=None):
        past = database_now() - timedelta(seconds=1)
        whose = Q() if process is None else Q(holder__contains=f":{process.pid}:")
        return Slot.objects.exclude(holder="").filter(whose).update(leased_until=past)

    return expire


@pytest.fixture
def declared_here(request, settings):
    """Let workers know the functions that the module of a test declares."""
    settings.ATRIBUTO = replace(settings.ATRIBUTO, task_modules=(request.module.__name__,))


@pytest.fixture
def executions(tmp_path):
    """How often the job with this file has run."""

    def count(name="ran"):
        path = tmp_path / name
        return len(path.read_text().splitlines()) if path.exists() else 0

    return count


@pytest.fixture
def workhorse():
    horse = Workhorse(512)
    yield horse
    horse.close()


@pytest.fixture
def run(workhorse):
    """run(function, …) → the messages about the ends of these jobs, one after the other."""

    def all_of(*functions, file=""):
        ends = []
        for function in functions:
            workhorse.give([work(function, file)], 0.0)
            *_, done = messages(workhorse)
            ends.append(done)
        return ends

    return all_of
