"""Wait for a key that another transaction holds, and notice waits that can never end."""

import time
from collections.abc import Callable
from typing import TypeVar

from allocation.failpoints import failpoint
from allocation.logic.waits import is_victim
from allocation.transactions.errors import CollectionKeyIsLocked, DeadlockDetected
from allocation.transactions.keys import Key
from allocation.transactions.models import Document, LockWait

T = TypeVar("T")
FIRST_PAUSE_SECONDS = 0.005
LONGEST_PAUSE_SECONDS = 0.1


def waiting(act: Callable[[], T], txn: int, place: Key, mode: str, seconds: float) -> T:
    """Try until the key is free or the time is over."""
    try:
        return act()
    except CollectionKeyIsLocked:
        if seconds <= 0:
            raise
    wait = _announce(txn, place, mode)
    try:
        return _try_again(act, txn, place, time.monotonic() + seconds)
    finally:
        LockWait.objects.filter(pk=wait.pk).delete()
        failpoint("wait.after_end")


def _announce(txn: int, place: Key, mode: str) -> LockWait:
    document = Document.objects.only("pk").get(collection=place.collection, key=place.key)
    wait, _ = LockWait.objects.update_or_create(
        transaction_id=txn, defaults={"document": document, "mode": mode}
    )
    failpoint("wait.after_announce")
    return wait


def _try_again(act: Callable[[], T], txn: int, place: Key, deadline: float) -> T:
    pause = FIRST_PAUSE_SECONDS
    while True:
        _give_way_to_older(txn, place)
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
        try:
            return act()
        except CollectionKeyIsLocked:
            if time.monotonic() >= deadline:
                raise


def _give_way_to_older(txn: int, place: Key) -> None:
    edges = LockWait.objects.edges()
    if is_victim(txn, edges):
        holder = next(holder for waiter, holder in edges if waiter == txn)
        raise DeadlockDetected(*place, holder, None)
