"""Processes that allocate while instances flip, that are killed, and that meet conflicts."""

import json
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection, connections
from django.db.models import F
from django.db.transaction import atomic

from allocation.atributo import Atributo
from allocation.models import Allocation, InstanceLoad, PastAllocation
from allocation.storage.locks import roster_lock
from atributo_site.core import retry
from tests.allocation.placement.concurrency import broken, is_waiting, threads

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def ao():
    made = Atributo()
    for number in range(4):
        made.available(f"instance{number}")
    return made


def allocators(environment, processes, rounds):
    """Started, with Django in memory, and waiting for a line."""
    command = [sys.executable, "-m", "tests.allocation.placement.allocator"]
    started = [
        subprocess.Popen(
            [*command, f"p{n}", str(rounds)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(processes)
    ]
    assert [process.stdout.readline() for process in started] == ["ready\n"] * processes
    return started


def storm(environment, processes, rounds, flips):
    """Allocators in processes of their own while instances flip; what each was told."""
    started = allocators(environment, processes, rounds)
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    wrong, seconds = flip(flips)
    outputs = [process.communicate(timeout=600)[0] for process in started]
    assert [process.returncode for process in started] == [0] * processes
    return seconds, wrong, [json.loads(text) for text in outputs]


def flip(times):
    """Make instances unavailable in turn; the jobs that came late, and how long each took."""
    ao, late, seconds = Atributo(), [], []
    for number in range(times):
        instance_id = f"instance{number % 3}"  # the fourth stays
        began = time.perf_counter()
        ao.unavailable(instance_id)
        seconds.append(time.perf_counter() - began)
        before = set(ao.jobs(instance_id))
        ao.allocate(f"flip{number}")
        late += set(ao.jobs(instance_id)) - before
        if number % 2 == 0:
            ao.unavailable(instance_id, destroyed=True)
        ao.available(instance_id)
    return late, sorted(seconds)


def check_storm(wrong, told):
    stored = defaultdict(list)
    for job_id, instance_id, persisted in (each for found in told for each in found):
        stored[job_id] += [instance_id] if persisted else []
    assert wrong == []
    assert broken() == {}
    destroyed = PastAllocation.objects.filter(end_reason="instance removed")
    again = Counter(destroyed.values_list("job_id", flat=True))
    twice = [key for key, found in stored.items() if len(found) > 1 + again[key]]
    assert twice == []
    assert Allocation.objects.filter(pk__startswith="shared").exists()


def test_a15_a_small_storm_of_processes_and_flips(ao, process_environment):
    _, *found = storm(process_environment, processes=3, rounds=30, flips=20)
    check_storm(*found)


@pytest.mark.soak
def test_a15_fifty_processes_and_a_hundred_flips(ao, process_environment, capsys):
    seconds, *found = storm(process_environment, processes=50, rounds=200, flips=150)
    check_storm(*found)
    p95 = seconds[int(len(seconds) * 0.95)]
    with capsys.disabled():
        print(f"\n{connection.vendor}: unavailable p95 {p95 * 1000:.0f} ms of {len(seconds)}")
    assert p95 <= 0.5


def test_processes_killed_in_the_middle_of_allocate_leave_all_or_nothing(
    ao, process_environment, wait_until
):
    started = allocators(process_environment, processes=2, rounds=1_000_000)
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    wait_until(lambda: Allocation.objects.count() > 100, timeout=60)
    for process in started:
        process.kill()
        process.communicate()
    assert broken() == {}
    assert ao.allocate("after").persisted
    assert ao.unavailable("instance0")


@pytest.fixture
def errors(monkeypatch):
    """The states of the errors that were looked at; they are handled as ever."""
    seen, is_busy = [], retry.is_busy

    def look(error):
        seen.append(error.__cause__.sqlstate)
        return is_busy(error)

    monkeypatch.setattr(retry, "is_busy", look)
    yield seen
    connection.close()  # it may have settings of its own now


def beside(work):
    """A thread with a connection of its own."""
    pool = ThreadPoolExecutor(1)
    return pool.submit(threads, 1, lambda _: work())


@pytest.mark.only_on("postgresql")
def test_a_deadlock_is_tried_again(ao, wait_until, errors):
    held = threading.Event()

    def holder():
        with atomic(), connections["default"].cursor() as cursor:
            cursor.execute("SET LOCAL deadlock_timeout = '60s'")  # the allocator is told first
            Allocation.objects.create(job_id="job", instance_id="instance0", epoch=1, candidates=1)
            held.set()
            wait_until(is_waiting)
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [0x61747269])

    with connection.cursor() as cursor:  # looked at once, when the holder waits in its turn
        cursor.execute("SET deadlock_timeout = '5s'")
    done = beside(holder)
    held.wait(60)
    assert ao.allocate("job") == ("instance0", False)
    done.result(60)
    assert errors == ["40P01"]


@pytest.mark.only_on("postgresql")
def test_a_serialization_failure_is_tried_again(ao, wait_until, errors):
    ao.allocate("warm")
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_isolation = 'repeatable read'")
    held = threading.Event()

    def holder():
        with roster_lock():
            held.set()
            wait_until(is_waiting)
            InstanceLoad.objects.update(jobs=F("jobs"))

    done = beside(holder)
    held.wait(60)
    assert ao.allocate("job").persisted
    done.result(60)
    assert errors == ["40001"]
