"""Locks: shared and exclusive, waited for, in circles, with tokens that only grow."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from allocation.transactions import (
    Client,
    CollectionKeyIsLocked,
    DeadlockDetected,
    RollbackCausedByException,
    Transaction,
)
from allocation.transactions.models import Document, Lock, LockWait

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def threads():
    """Threads whose connections are closed at the end."""

    def closing(function):
        def run(*arguments):
            try:
                return function(*arguments)
            finally:
                connection.close()

        return run

    with ThreadPoolExecutor(8) as pool:
        yield lambda function, *arguments: pool.submit(closing(function), *arguments)


def is_locked(error):
    return isinstance(error.value.exception_causing_rollback, CollectionKeyIsLocked)


def test_readers_share_a_key_and_keep_writers_out(store):
    first, second, writer = Transaction(store), Transaction(store), Transaction(store)
    first.get("c", "old", shared=True)
    second.get("c", "old", shared=True)
    assert store.get("c", "old").status_code == 200
    with pytest.raises(CollectionKeyIsLocked):
        store.put("c", "old", {"v": 1})
    with pytest.raises(RollbackCausedByException) as met:
        writer.put("c", "old", {"v": 1})
    assert is_locked(met)


def test_the_last_reader_may_write(store):
    first, second = Transaction(store), Transaction(store)
    first.get("c", "old", shared=True)
    second.get("c", "old", shared=True)
    second.complete()
    first.put("c", "old", {"v": 1})
    assert Lock.objects.get().mode == "exclusive"


def test_a_reader_beside_others_may_not_write(store):
    first, second = Transaction(store), Transaction(store)
    first.get("c", "old", shared=True)
    second.get("c", "old", shared=True)
    with pytest.raises(RollbackCausedByException) as met:
        first.put("c", "old", {"v": 1})
    assert is_locked(met)
    assert store.get("c", "old").json == {"v": 0}


def test_tokens_of_a_key_grow_for_ever(store):
    tokens = []
    for _ in range(3):
        with Transaction(store) as txn:
            tokens.append(txn.lock("c", "old"))
            assert txn.lock("c", "old") == tokens[-1]
    store.delete("c", "old")
    store.drop("c")
    with Transaction(store) as txn:
        tokens.append(txn.lock("c", "old", shared=True))
        tokens.append(txn.lock("c", "old"))
    assert tokens == sorted(set(tokens))
    assert Document.objects.get(key="old").lock_token == tokens[-1]


def test_a_wait_ends_when_the_holder_does(store, threads, wait_until):
    holder = Transaction(store)
    holder.put("c", "old", {"v": 1})
    waiter = threads(lambda: Transaction(Client(), wait=60).get("c", "old").json)
    wait_until(lambda: LockWait.objects.exists())
    assert LockWait.objects.get().mode == "exclusive"
    holder.complete()
    assert waiter.result(60) == {"v": 1}
    assert not LockWait.objects.exists()


def test_those_who_wait_get_the_key_in_the_order_of_their_coming(store, threads, wait_until):
    def appends(number):
        with Transaction(Client(), wait=60) as txn:
            txn.put("c", "line", [*txn.get("c", "line").json, number])

    store.put("c", "line", [])
    holder = Transaction(store)
    holder.get("c", "line")
    waiters = []
    for number in range(5):
        waiters.append(threads(appends, number))
        wait_until(lambda number=number: LockWait.objects.count() == number + 1)
    holder.complete()
    assert [waiter.result(60) for waiter in waiters] == [None] * 5
    assert store.get("c", "line").json == [0, 1, 2, 3, 4]


def test_nobody_waits_behind_a_waiter_that_is_out_of_time(store, let_expire):
    dead = Transaction(store)
    document = Document.objects.get(collection="c", key="old")
    LockWait.objects.create(document=document, transaction_id=dead.id, mode="exclusive")
    let_expire(dead)
    mine = LockWait.objects.create(
        document=document, transaction_id=Transaction(store).id, mode="exclusive"
    )
    assert not LockWait.objects.ahead_of(mine).exists()


def test_a_reader_who_wants_to_write_does_not_queue_behind_whom_it_blocks(
    store, threads, wait_until
):
    reader = Transaction(store, wait=60)
    reader.get("c", "old", shared=True)
    writer = threads(lambda: Transaction(Client(), wait=60).put("c", "old", {"v": "writer"}))
    wait_until(lambda: LockWait.objects.exists())
    reader.put("c", "old", {"v": "reader"})
    reader.complete()
    writer.result(60)


def test_a_reader_that_may_wait_lets_a_waiting_writer_go_first(store, threads, wait_until):
    """Or readers that follow each other would keep every writer out."""

    def writes():
        with Transaction(Client(), wait=60) as txn:
            txn.put("c", "old", {"v": "writer"})

    first = Transaction(store)
    first.get("c", "old", shared=True)
    writer = threads(writes)
    wait_until(lambda: LockWait.objects.exists())
    second = threads(lambda: Transaction(Client(), wait=60).get("c", "old", shared=True).json)
    wait_until(lambda: LockWait.objects.count() == 2 or second.done())
    assert first.get("c", "old", shared=True, wait=60)["v"] == 0
    first.complete()
    assert (second.result(60), writer.result(60)) == ({"v": "writer"}, None)


def test_a_wait_ends_at_its_limit(store):
    holder = Transaction(store)
    holder.put("c", "old", {"v": 1})
    with pytest.raises(RollbackCausedByException) as met:
        Transaction(store).put("c", "old", {"v": 2}, wait=0.05)
    assert is_locked(met)
    assert met.value.exception_causing_rollback.holder == holder.id
    assert not LockWait.objects.exists()


def test_of_two_that_wait_for_each_other_the_younger_gives_way(store, threads, wait_until):
    older, younger = Transaction(store, wait=60), Transaction(store, wait=60)
    older.put("c", "old", {"v": "older"})
    younger.put("c", "doomed", {"v": "younger"})
    waiting = threads(lambda: older.put("c", "doomed", {"v": "older"}))
    wait_until(lambda: LockWait.objects.exists())
    with pytest.raises(RollbackCausedByException) as met:
        younger.put("c", "old", {"v": "younger"})
    assert isinstance(met.value.exception_causing_rollback, DeadlockDetected)
    waiting.result(60)
    older.complete()
    assert [store.get("c", key).json["v"] for key in ("old", "doomed")] == ["older", "older"]


def test_two_readers_that_both_want_to_write_are_a_circle(store, threads, wait_until):
    older, younger = Transaction(store, wait=60), Transaction(store, wait=60)
    older.get("c", "old", shared=True)
    younger.get("c", "old", shared=True)
    waiting = threads(lambda: older.put("c", "old", {"v": "older"}))
    wait_until(lambda: LockWait.objects.exists())
    with pytest.raises(RollbackCausedByException) as met:
        younger.put("c", "old", {"v": "younger"})
    assert isinstance(met.value.exception_causing_rollback, DeadlockDetected)
    waiting.result(60)


@pytest.mark.parametrize("often", [10, pytest.param(1000, marks=pytest.mark.soak)])
def test_orders_that_cross_never_hang(store, threads, often):
    """Two threads lock the same two keys in opposite orders until both have done their part."""

    def changes(first, second):
        done = 0
        while done < often:
            try:
                with Transaction(Client(), wait=60) as txn:
                    txn.put("c", first, {"v": done})
                    txn.put("c", second, {"v": done})
                done += 1
            except RollbackCausedByException as error:
                assert isinstance(error.exception_causing_rollback, CollectionKeyIsLocked)
        return done

    results = [threads(changes, "old", "doomed"), threads(changes, "doomed", "old")]
    assert [result.result(60 + often) for result in results] == [often, often]
    assert not Lock.objects.exists()
