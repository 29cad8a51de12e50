"""Wait in line for a key that another transaction holds, and detect deadlocks."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Semaphore
from typing import TypeVar

from allocation.transactions.errors import CollectionKeyIsLocked, DeadlockDetected
from allocation.transactions.logic.waits import is_victim
from allocation.transactions.models import Document, Lock, LockWait
from allocation.transactions.models.lock import Mode
from allocation.transactions.store.keys import Key
from atributo_site.core.failpoints import failpoint

T = TypeVar("T")
PAUSE_SECONDS = 0.01
LONGEST_PAUSE_SECONDS = 0.5
CIRCLES_SECONDS = 0.1  # between checks; longer far back, where fifty kept a processor busy


def waiting(
    act: Callable[[], T],
    txn: int,
    place: Key,
    mode: str,
    seconds: float,
    seats: Semaphore | None = None,
) -> T:
    """Try at once, then in turn until the key is free or the time is over.

    A newcomer takes a key that is free: to queue behind fifty that sleep would be fair, but slow.
    A reader does not pass a waiting writer, who would never get a key that readers always share.
    If no seat is free, it does not wait.
    """
    if seconds <= 0:
        return act()
    if not _passes_a_writer(txn, place, mode):
        try:
            return act()
        except CollectionKeyIsLocked:
            pass  # wait for it
    with _seated(seats) as may_wait:
        return _wait(act, txn, place, mode, seconds) if may_wait else act()


@contextmanager
def _seated(seats: Semaphore | None) -> Iterator[bool]:
    taken = seats is not None and seats.acquire(blocking=False)
    try:
        yield seats is None or taken
    finally:
        if seats is not None and taken:
            seats.release()


def _wait(act: Callable[[], T], txn: int, place: Key, mode: str, seconds: float) -> T:
    wait = _announce(txn, place, mode)
    try:
        return _try_in_turn(act, wait, place, time.monotonic() + seconds)
    finally:
        LockWait.objects.filter(pk=wait.pk).delete()
        failpoint("wait.after_end")


def _passes_a_writer(txn: int, place: Key, mode: str) -> bool:
    if mode != Mode.SHARED:
        return False
    return LockWait.objects.live().by_writers(*place).exists() and not _holds(txn, place)


def _holds(txn: int, place: Key) -> bool:
    return Lock.objects.on(*place).filter(transaction=txn).exists()


def _announce(txn: int, place: Key, mode: str) -> LockWait:
    document = Document.objects.only("pk").get(collection=place.collection, key=place.key)
    wait, _ = LockWait.objects.update_or_create(
        transaction_id=txn, defaults={"document": document, "mode": mode}
    )
    failpoint("wait.after_announce")
    return wait


def _try_in_turn(act: Callable[[], T], wait: LockWait, place: Key, deadline: float) -> T:
    holds, asked_at = _holds(wait.transaction_id, place), float("-inf")
    while True:
        ahead = 0 if holds else LockWait.objects.ahead_of(wait).count()
        if time.monotonic() - asked_at >= CIRCLES_SECONDS * (1 + min(ahead, 4)):
            _give_way_to_older(wait.transaction_id, place)
            asked_at = time.monotonic()
        is_late = time.monotonic() >= deadline
        if is_late or not ahead:
            try:
                return act()
            except CollectionKeyIsLocked:
                if is_late:
                    raise
        time.sleep(min(PAUSE_SECONDS * (1 + ahead), LONGEST_PAUSE_SECONDS))


def _give_way_to_older(txn: int, place: Key) -> None:
    edges = LockWait.objects.edges()
    if is_victim(txn, edges):
        holder = next(holder for waiter, holder in edges if waiter == txn)
        raise DeadlockDetected(*place, holder, None)
