"""The pool of a script appears on the screens with its worker and the age of its report."""

import json
from dataclasses import replace

import pytest

import queues
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now, from_now
from pools.models import Backend, PoolSnapshot
from pools.reporting.live_view import live_pools, reports, with_live
from queues.models import QueuedJob
from queues.services import installation

pytestmark = pytest.mark.django_db(transaction=True)
SCRIPT = """
from pools import ConnectionPool, StaticIpResolver

resolver = StaticIpResolver([{"address": "127.0.0.1", "port": 9}])
resolver.start()
pool = ConnectionPool(
    constructor=lambda backend: object(), domain="mail.example", resolver=resolver,
    recovery={"default": {"timeout": 60_000, "retries": 1, "delay": 10}}, spares=2, maximum=3,
)

def run(context):
    with pool.claim(timeout=60_000):
        return "sent"
"""


@pytest.fixture
def mailer(settings, monkeypatch, tmp_path, process_environment, worker_process):
    """Run a worker that has run a script with a pool of its own."""
    folder = tmp_path / "mailer"
    folder.mkdir()
    (folder / "send.py").write_text(SCRIPT)
    manifest = {"name": "mailer", "version": "1.0.0", "scripts": {"send": "send.py"}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    settings.ATRIBUTO = replace(settings.ATRIBUTO, service_roots=(str(tmp_path),))
    installation.install("mailer", "/mailer", setup=False)
    queues.create("work").push({"mount": "/mailer", "name": "send"})
    return worker_process("--name", "a", env={"ATRIBUTO_SERVICE_ROOTS": str(tmp_path)})


def idle():
    return [pool["sums"].get("idle") for pool in live_pools(reports(), database_now())]


def test_a_pool_of_a_script_is_reported_by_the_process_that_runs_it(mailer, wait_until, client_as):
    wait_until(lambda: idle() == [2], 60, mailer._story())
    wait_until(lambda: QueuedJob.objects.get().status == "complete", 60, mailer._story())
    report = PoolSnapshot.objects.get()
    assert report.process.startswith("worker/a script ")
    page = client_as("viewer").get("/pools/live/").text
    assert "mail.example" in page
    assert report.process in page
    first, again = report.at, PoolSnapshot.objects.filter(at__gt=report.at)
    wait_until(again.exists)
    assert PoolSnapshot.objects.get().at > first


def test_a_process_that_fell_silent_is_shown_so_and_counts_no_more(client_as):
    body = {"pool": {"p": {"state": "running", "connections": {"k": {"idle": 2}}}}}
    PoolSnapshot.objects.create(process="worker/a script 7", body=body, at=from_now(-60))
    assert "silent" in client_as("viewer").get("/pools/live/").text
    (backend,) = with_live([Backend(key="k")])
    assert backend.connections == {}


def test_a_script_process_is_named_after_its_worker():
    from atributo_site.supervisor import script_process

    host = script_process.socket.gethostname()
    Lease.objects.acquire("worker/b", f"{host}:4711:abcd", 30)
    assert script_process.this_process(4711).startswith("worker/b script ")
