"""Many at once: one instance per job, one `persisted`, nothing after `unavailable`."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import pytest
from django.db import OperationalError, connection, connections
from django.db.transaction import atomic

from allocation.atributo import Atributo
from allocation.errors import NoInstances
from allocation.models import Allocation, PastAllocation
from allocation.placement import operations
from allocation.storage import Placement, Placements, store
from atributo_site.core.errors import DatabaseBusy
from atributo_site.core.retry import retry_busy
from tests.allocation.placement.concurrency import broken, is_waiting, threads

pytestmark = pytest.mark.django_db(transaction=True)


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
            barrier.wait(60)
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


def test_a_batch_that_waits_for_another_party_still_says_what_it_stored(ao, wait_until):
    placed, may_commit = threading.Event(), threading.Event()

    def party(_):
        with atomic():
            Atributo().allocate("b")
            placed.set()
            may_commit.wait(60)

    with ThreadPoolExecutor(2) as pool:
        pool.submit(threads, 1, party)
        placed.wait(60)
        batch = pool.submit(threads, 1, lambda _: Atributo().allocate_many(["a", "b", "c"]))
        wait_until(is_waiting)
        may_commit.set()
    (answers,) = batch.result()
    stored = {job_id: answer.persisted for job_id, answer in answers.items()}
    assert stored == {"a": True, "b": False, "c": True}


def test_a17_when_unavailable_returns_the_allocation_in_flight_is_there(ao, wait_until):
    placed, may_commit = threading.Event(), threading.Event()

    def allocator():
        with atomic():
            Atributo().allocate("job0")  # on instance1, not committed yet
            placed.set()
            may_commit.wait(60)

    def operator():
        placed.wait(60)
        Atributo().unavailable("instance1")
        answered.set()
        return Atributo().has_jobs("instance1")

    def usher():
        placed.wait(60)
        wait_until(lambda: is_waiting() or answered.is_set())
        may_commit.set()

    answered = threading.Event()
    _, has_jobs, _ = threads(3, lambda n: (allocator, operator, usher)[n]())
    assert has_jobs


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


@pytest.fixture
def patient(settings):
    """It is the tries that end, not the time, however slow the machine is."""
    settings.ATRIBUTO = replace(settings.ATRIBUTO, busy_timeout_ms=600_000)


@pytest.mark.only_on("postgresql")
def test_a_lock_that_never_comes_free_is_a_busy_database(ao, patient):
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
        held.wait(60)
        with pytest.raises(DatabaseBusy, match="gave up after 6 tries"):
            ao.allocate("job")
        done.set()
    connection.close()  # the next one is patient again
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
def test_a_file_that_stays_locked_is_a_busy_database(ao, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, busy_timeout_ms=100)
    held, done = threading.Event(), threading.Event()

    def holder(_):
        with atomic():
            held.set()
            done.wait(60)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(threads, 1, holder)
        held.wait(60)
        with pytest.raises(DatabaseBusy, match="gave up after 1 tries"):
            ao.allocate("job")
        done.set()
    settings.ATRIBUTO = replace(settings.ATRIBUTO, busy_timeout_ms=600_000)
    assert ao.allocate("job").persisted


def test_the_deadline_counts_from_the_first_try():
    """A first try that waited for the whole of it is the last."""
    clock = iter([0.0, 10.0, 10.0])

    def wait_in_vain():
        raise OperationalError("database is locked")

    with pytest.raises(DatabaseBusy, match="gave up after 1 tries"):
        retry_busy(wait_in_vain, monotonic=lambda: next(clock))


def test_what_fails_inside_a_transaction_is_tried_again_from_outside_of_it():
    tries = []

    def place():
        tries.append(None)
        if len(tries) == 1:
            raise OperationalError("database is locked")
        return "placed"

    def together():
        with atomic():
            return retry_busy(place)

    assert retry_busy(together, sleep=lambda seconds: None) == "placed"
    assert len(tries) == 2


def test_what_was_given_up_outside_of_any_transaction_is_not_tried_again():
    tries = []

    def give_up():
        tries.append(None)
        raise DatabaseBusy("six times is enough")

    with pytest.raises(DatabaseBusy, match="six times"):
        retry_busy(give_up, sleep=lambda seconds: None)
    assert len(tries) == 1


def test_a5_a_process_killed_inside_allocate_leaves_all_or_nothing(ao):
    class Killed(BaseException):
        pass

    with pytest.raises(Killed), atomic():
        ao.allocate_many(["a", "b"])
        raise Killed
    assert Allocation.objects.count() == 0
    assert broken() == {}


def test_no_job_slips_in_between_counting_and_removing(monkeypatch):
    """A caller who wants to drop nothing drops nothing, however late a job comes."""
    Atributo().available("a")
    with ThreadPoolExecutor(1) as pool:
        late = []

        def holds_of(instance_id):
            late.append(pool.submit(allocate))
            wait(late, timeout=0.5)
            return {}

        monkeypatch.setattr(operations, "holds_of", holds_of)
        assert operations.remove_instance("a") == 0
        assert isinstance(late[0].exception(), NoInstances)
    assert not PastAllocation.objects.exists()


def allocate():
    try:
        return Atributo().allocate("late")
    finally:
        connections.close_all()


@pytest.mark.only_on("postgresql")
def test_a_placement_that_was_not_stored_keeps_no_lock(ao):
    """Or two of them that want the list alone afterwards wait for each other."""
    facts = {"version": 0, "strategy": "md5-modulo", "candidates": 1, "actor": "", "channel": ""}
    with atomic(), connection.cursor() as cursor:
        assert (
            store("default").place(Placement("a", "instance0", score=None, **facts)).placed is None
        )
        assert store("default").place_many(Placements([("a", "instance0", None)], **facts))[1] == {}
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        )
        assert cursor.fetchone() == (0,)
        assert ao.allocate("a").persisted
