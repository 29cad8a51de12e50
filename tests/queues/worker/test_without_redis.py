"""Redis away, hanging, empty: jobs are pushed and run all the same."""

import re
import time
from pathlib import Path

import pytest
import redis

import queues
from queues.models import QueuedJob

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations.md"
FOR_EVER = 120  # seconds: whoever waits for a Redis that hangs has no end


@pytest.fixture
def own_redis(valkey, settings, monkeypatch):
    """A Redis of this test's own for pushes and workers."""
    from queues.runs import doorbell

    monkeypatch.setenv("REDIS_URL", valkey.url)
    bells = settings.RQ_QUEUES["atributo-bells"]
    settings.RQ_QUEUES = {"atributo-bells": {**bells, "URL": valkey.url}}
    doorbell._clients.clear()
    yield valkey
    doorbell._clients.clear()


@pytest.fixture
def lonely_worker(own_redis, worker_process, wait_until, probe):
    from atributo_site.core.models import Lease
    from tests.queues.conftest import QUICK, ROOT

    env = {**QUICK, "REDIS_URL": own_redis.url, "ATRIBUTO_SERVICE_ROOTS": str(ROOT)}
    process = worker_process("--name", "a", env=env)
    wait_until(Lease.objects.held().filter(role="worker/a").exists)
    return process


def complete(job):
    return lambda: job.status == "complete"


@pytest.fixture
def keeper(own_redis):
    """Who sees what is refused, when everybody else has the rights that the docs name."""
    rights = re.search(r"ACL SETUSER atributo on >\S+ (.+)", OPERATIONS.read_text())[1]
    with redis.Redis(unix_socket_path=str(own_redis.socket_path)) as client:
        client.execute_command("ACL SETUSER keeper on >keeps +@all ~* &*")
        client.execute_command(f"ACL SETUSER default reset on nopass {rights}")
    path = str(own_redis.socket_path)
    with redis.Redis(unix_socket_path=path, username="keeper", password="keeps") as client:
        yield client


def test_the_rights_that_the_docs_name_are_enough(keeper, lonely_worker, queue, act, wait_until):
    job = queue.get(queue.push(act))
    wait_until(complete(job))
    wait_until(lambda: keeper.smembers("rq:workers"))
    assert keeper.execute_command("ACL LOG") == []


def test_jobs_run_while_redis_is_down(own_redis, lonely_worker, queue, act, wait_until):
    own_redis.kill()
    job = queue.get(queue.push(act))
    wait_until(complete(job))
    assert lonely_worker.is_running()


def test_a_worker_comes_back_to_an_empty_redis(own_redis, lonely_worker, queue, act, wait_until):
    own_redis.kill()
    lonely_worker.wait_for_line("redis_away")
    own_redis.start()
    job = queue.get(queue.push(act))
    wait_until(complete(job))
    with redis.Redis.from_url(own_redis.url) as client:
        wait_until(lambda: client.smembers("rq:workers"))


def test_a_worker_may_start_before_redis(own_redis, worker_process, queue, act, wait_until):
    from tests.queues.conftest import QUICK, ROOT

    own_redis.kill()
    env = {**QUICK, "REDIS_URL": own_redis.url, "ATRIBUTO_SERVICE_ROOTS": str(ROOT)}
    worker_process("--name", "a", env=env)
    job = queue.get(queue.push(act))
    wait_until(complete(job))


def test_a_hanging_redis_does_not_hold_up_a_push(own_redis, queue, act, wait_until):
    own_redis.pause()
    queues.pause("work")
    begun = time.monotonic()
    queue.push_many(act, [None] * 3)
    assert time.monotonic() - begun < FOR_EVER
    assert QueuedJob.objects.count() == 3
