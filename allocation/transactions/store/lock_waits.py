"""Wait in line for a key that another transaction holds, and detect deadlocks.

Those who wait only read: a wait that tried to lock the key each time kept the holder from writing
on SQLite, and cost the processor twenty times as much.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Semaphore
from typing import TypeVar

from allocation.transactions.errors import CollectionKeyIsLocked, DeadlockDetected
from allocation.transactions.logic.waits import is_victim
from allocation.transactions.models import LockWait
from allocation.transactions.store.keys import Key
from atributo_site.core.database import Dialect, dialect, execute
from atributo_site.core.failpoints import failpoint

T = TypeVar("T")
PAUSE_SECONDS = 0.003  # of the first in line, while the line moves
LONGEST_PAUSE_SECONDS = 0.05
STANDING_STILL = 8  # a line that has not moved for a while is looked at so often in that time
GONE = (0, False, True, False)  # whoever ends the transaction ends its wait
MOST_AHEAD = 9  # who is further back looks as often
CIRCLES_SECONDS = 0.1  # between checks; longer far back, where fifty kept a processor busy
HERE = 'd.collection = %(collection)s AND d."key" = %(key)s'
ALIVE = "t.status = 'active' AND t.expires_at > {clock}"
CANNOT_SHARE = "(%(mode)s = 'exclusive' OR {other}.mode = 'exclusive')"


def waiting(
    act: Callable[[], T],
    txn: int,
    place: Key,
    mode: str,
    seconds: float,
    seats: Semaphore | None = None,
) -> T:
    """Try at once, then in turn until the key is free or the time is over.

    Nobody who may wait passes those that wait already: who changes a key again and again would
    keep it from all that sleep. If no seat is free, it does not wait.
    """
    if seconds <= 0:
        return act()
    if not _passes_others(txn, place, mode):
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
        return _try_in_turn(act, Line(wait, txn, mode), place, time.monotonic() + seconds)
    finally:
        LockWait.objects.filter(pk=wait).delete()
        failpoint("wait.after_end")


def _passes_others(txn: int, place: Key, mode: str) -> bool:
    facts = {"txn": txn, "mode": mode, **place._asdict()}
    return bool(execute(others(dialect()), facts).rows)


def _announce(txn: int, place: Key, mode: str) -> int:
    facts = {"txn": txn, "mode": mode, **place._asdict()}
    ((wait,),) = execute(announce(dialect()), facts).rows
    failpoint("wait.after_announce")
    return wait


class Line:
    """The line that a transaction stands in, and how often to look at it."""

    def __init__(self, wait: int, txn: int, mode: str) -> None:
        self.txn = txn
        self.ahead = -1
        self.is_my_turn = False
        self.holds_some = False  # so that others may wait for it
        self._facts = {"wait": wait, "txn": txn, "mode": mode}
        self._moved_at = time.monotonic()

    def look(self) -> None:
        """Read by one statement who is ahead, and whether the key is free; it writes nothing."""
        row = execute(look(dialect()), self._facts).first
        ahead, is_taken, is_over, self.holds_some = row or GONE
        if ahead != self.ahead:
            self.ahead, self._moved_at = ahead, time.monotonic()
        self.is_my_turn = bool(is_over) or not (ahead or is_taken)

    def pause(self) -> float:
        """Return a short pause while the line moves, and a longer one while it stands still."""
        still = (time.monotonic() - self._moved_at) / STANDING_STILL
        pause = min(max(PAUSE_SECONDS, still), LONGEST_PAUSE_SECONDS)
        return pause * (1 + min(self.ahead, MOST_AHEAD))


def _try_in_turn(act: Callable[[], T], line: Line, place: Key, deadline: float) -> T:
    line.look()
    asked_at = float("-inf") if line.holds_some else time.monotonic()
    while True:
        if time.monotonic() - asked_at >= CIRCLES_SECONDS * (1 + min(line.ahead, 4)):
            _give_way_to_older(line.txn, place)
            asked_at = time.monotonic()
        is_late = time.monotonic() >= deadline
        if is_late or line.is_my_turn:
            try:
                return act()
            except CollectionKeyIsLocked:
                if is_late:
                    raise
        time.sleep(line.pause())
        line.look()


def _give_way_to_older(txn: int, place: Key) -> None:
    edges = LockWait.objects.edges()
    if is_victim(txn, edges):
        holder = next(holder for waiter, holder in edges if waiter == txn)
        raise DeadlockDetected(*place, holder, None)


@lru_cache(maxsize=8)
def others(d: Dialect) -> str:
    """Find somebody who waits for the key and cannot share it, unless the caller holds it."""
    return f"""
SELECT w.id FROM allocation_document d
JOIN allocation_lockwait w ON w.document_id = d.id
JOIN allocation_transaction t ON t.id = w.transaction_id
WHERE {HERE} AND w.transaction_id <> %(txn)s AND {ALIVE.format(clock=d.clock)}
    AND {CANNOT_SHARE.format(other="w")} AND NOT EXISTS (
        SELECT 1 FROM allocation_lock l WHERE l.document_id = d.id AND l.transaction_id = %(txn)s)
LIMIT 1"""  # nosec B608 # of constants and dialect


@lru_cache(maxsize=8)
def announce(d: Dialect) -> str:
    """Stand at the end of the line."""
    return f"""
INSERT INTO allocation_lockwait (document_id, transaction_id, mode, since)
SELECT d.id, CAST(%(txn)s AS bigint), CAST(%(mode)s AS varchar), {d.clock}
FROM allocation_document d WHERE {HERE}
ON CONFLICT (transaction_id) DO UPDATE
SET document_id = excluded.document_id, mode = excluded.mode, since = excluded.since
RETURNING id"""  # nosec B608 # of constants and dialect


@lru_cache(maxsize=8)
def look(d: Dialect) -> str:
    """Count who is ahead; is the key taken, the caller's time over, and does it hold any key?

    A caller that holds the key and wants more of it queues behind nobody.
    """
    alive = ALIVE.format(clock=d.clock)
    return f"""
SELECT
    (SELECT count(*) FROM allocation_lockwait w
        JOIN allocation_transaction t ON t.id = w.transaction_id
        WHERE w.document_id = mine.document_id AND w.id < mine.id AND {alive}
            AND {CANNOT_SHARE.format(other="w")} AND NOT EXISTS (
                SELECT 1 FROM allocation_lock l
                WHERE l.document_id = mine.document_id AND l.transaction_id = %(txn)s)),
    EXISTS (SELECT 1 FROM allocation_lock l
        WHERE l.document_id = mine.document_id AND l.transaction_id <> %(txn)s
            AND {CANNOT_SHARE.format(other="l")})
    OR EXISTS (SELECT 1 FROM allocation_document d
        WHERE d.id = mine.document_id AND d.lock_delayed_until > {d.clock}),
    NOT EXISTS (SELECT 1 FROM allocation_transaction t WHERE t.id = %(txn)s AND {alive}),
    EXISTS (SELECT 1 FROM allocation_lock l WHERE l.transaction_id = %(txn)s)
FROM allocation_lockwait mine WHERE mine.id = %(wait)s"""  # nosec B608 # of constants and dialect
