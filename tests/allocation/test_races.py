"""Many at once: one instance per job, one `persisted`, nothing after `unavailable`."""

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

from allocation import busy
from allocation.atributo import Atributo
from allocation.errors import DatabaseBusy, NoInstances
from allocation.invariants import INVARIANTS
from allocation.locks import availability_alone
from allocation.models import Allocation, InstanceLoad, PastAllocation

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[2]


def threads(count, work):
    """work(0) … work(count - 1) at once, each with its own connection."""

    def run(number):
        try:
            return work(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def broken():
    return {name: rows for name, _, find in INVARIANTS if (rows := find())}


@pytest.fixture
def ao():
    made = Atributo()
    for number in range(4):
        made.available(f"instance{number}")
    return made


def test_a14_one_of_many_parties_stores_and_all_get_the_same(ao):
    barrier = threading.Barrier(8)

    def party(_):
        found = []
        for number in range(10):
            barrier.wait(30)
            found.append(Atributo().allocate(f"job{number}"))
        return found

    for answers in zip(*threads(8, party), strict=True):
        assert len({answer.instance_id for answer in answers}) == 1
        assert Counter(answer.persisted for answer in answers) == {True: 1, False: 7}


def test_batches_that_overlap_store_each_job_once(ao):
    def party(number):
        job_ids = [f"job{n}" for n in range(200)]
        return Atributo().allocate_many(job_ids[:: 1 if number % 2 else -1])

    stored = Counter(
        job_id
        for answers in threads(6, party)
        for job_id, answer in answers.items()
        if answer.persisted
    )
    assert stored == {f"job{n}": 1 for n in range(200)}
    assert broken() == {}


def test_a17_when_unavailable_returns_the_allocation_in_flight_is_there(ao, wait_until):
    placed, may_commit = threading.Event(), threading.Event()

    def allocator():
        with atomic():
            Atributo().allocate("job0")  # on instance1, not committed yet
            placed.set()
            may_commit.wait(30)

    def operator():
        placed.wait(30)
        Atributo().unavailable("instance1")
        answered.set()
        return Atributo().has_jobs("instance1")

    def usher():
        placed.wait(30)
        wait_until(lambda: is_waiting() or answered.is_set(), timeout=20)
        may_commit.set()

    answered = threading.Event()
    _, has_jobs, _ = threads(3, lambda n: (allocator, operator, usher)[n]())
    assert has_jobs


def is_waiting():
    """Whether somebody waits for a lock; SQLite cannot tell, its writers simply wait."""
    if connection.vendor == "sqlite":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0] > 0


def test_a_capacity_is_never_exceeded(ao):
    for number in range(4):
        ao.available(f"instance{number}", capacity=10)

    def party(number):
        found = []
        for n in range(15):
            try:
                found.append(Atributo().allocate(f"{number}-{n}").instance_id)
            except NoInstances:
                found.append(None)
        return found

    placed = Counter(key for found in threads(4, party) for key in found)
    assert placed == {None: 20, **{f"instance{n}": 10 for n in range(4)}}
    assert broken() == {}


def test_fifty_threads_find_sqlite_and_postgresql_never_locked(ao):
    answers = threads(50, lambda n: [Atributo().allocate(f"{n}-{m}") for m in range(40)])
    assert sum(answer.persisted for found in answers for answer in found) == 2000
    assert broken() == {}


def test_a_new_placement_never_has_a_lower_epoch_than_an_old_one(ao):
    def party(number):
        for _ in range(60):
            Atributo().allocate("job")
            Atributo().deallocate("job")

    threads(4, party)
    epochs = list(PastAllocation.objects.order_by("id").values_list("epoch", flat=True))
    assert epochs == sorted(epochs)
    assert broken() == {}


def allocators(environment, processes, rounds):
    """Started, with Django in memory, and waiting for a line."""
    command = [sys.executable, "-m", "tests.allocation.allocator"]
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
    _, *found = storm(process_environment, processes=4, rounds=30, flips=20)
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
    seen, is_busy = [], busy.is_busy

    def look(error):
        seen.append(error.__cause__.sqlstate)
        return is_busy(error)

    monkeypatch.setattr(busy, "is_busy", look)
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
            wait_until(is_waiting, timeout=20)
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [0x61747269])

    done = beside(holder)
    held.wait(30)
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
        with availability_alone():
            held.set()
            wait_until(is_waiting, timeout=20)
            InstanceLoad.objects.update(jobs=F("jobs"))

    done = beside(holder)
    held.wait(30)
    assert ao.allocate("job").persisted
    done.result(60)
    assert errors == ["40001"]


@pytest.mark.only_on("postgresql")
def test_a_lock_that_never_comes_free_is_a_busy_database(ao):
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '30ms'")
    held, done = threading.Event(), threading.Event()

    def holder(_):
        with atomic(), connections["default"].cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [0x61747269])
            held.set()
            done.wait(60)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(threads, 1, holder)
        held.wait(30)
        with pytest.raises(DatabaseBusy, match="gave up after 6 tries"):
            ao.allocate("job")
        done.set()
    assert ao.allocate("job").persisted


@pytest.mark.only_on("postgresql")
def test_a_lost_connection_is_opened_again(ao):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
    threads(1, lambda _: end_backend(pid))
    assert ao.allocate("job").instance_id
    assert ao.allocate_many(["a", "b"])["a"].persisted


def end_backend(pid):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


@pytest.mark.only_on("sqlite")
def test_a_file_that_stays_locked_is_a_busy_database(ao):
    connection.ensure_connection()
    connection.connection.execute("PRAGMA busy_timeout = 5")
    held, done = threading.Event(), threading.Event()

    def holder(_):
        with atomic():
            held.set()
            done.wait(60)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(threads, 1, holder)
        held.wait(30)
        with pytest.raises(DatabaseBusy, match="gave up after 6 tries"):
            ao.allocate("job")
        done.set()
    connection.connection.execute("PRAGMA busy_timeout = 20000")
    assert ao.allocate("job").persisted


def test_a5_a_process_killed_inside_allocate_leaves_all_or_nothing(ao):
    class Killed(BaseException):
        pass

    with pytest.raises(Killed), atomic():
        ao.allocate_many(["a", "b"])
        raise Killed
    assert Allocation.objects.count() == 0
    assert broken() == {}
