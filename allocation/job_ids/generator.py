"""The maker of job ids in a process: blocks of its number, and who waits for what.

A transaction beside the caller's: what it stores stays when the caller rolls back.
"""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from django.db import connections

from allocation.errors import BadNumbering, NoJobIdYet, TooManyJobIds
from allocation.job_ids.worker_numbers import LEASE_SECONDS, Number, take
from allocation.logic import job_ids as digits
from allocation.logic.id_blocks import MOST_AHEAD_MS, Block, Mark, Wish, batch, single_ids
from atributo_site.core.errors import DatabaseBusy, LeaseLost
from atributo_site.core.leases import this_process
from atributo_site.core.retry import retry_busy


@contextmanager
def separate_connection(using: str) -> Iterator[str]:
    """The name of a connection without an open transaction.

    SQLite has one writer, who would wait for itself: there it is the caller's own.
    """
    connection = connections[using]
    if not connection.in_atomic_block or connection.vendor == "sqlite":
        yield using
        return
    alias = f"{using}-{uuid.uuid4().hex}"
    connections[alias] = connection.copy(alias)
    try:
        yield alias
    finally:
        connections[alias].close()
        del connections[alias]


T = TypeVar("T")
MOST_IDS = MOST_AHEAD_MS  # in one batch: each moves the mark of the number by a millisecond
CHILDS_BLOCK = 20  # a forked child shares its parent's number and needs few
PATIENCE_SECONDS = 10.0


class Generator:
    """Gives out ids from blocks of milliseconds that are stored before they are used.

    A forked child goes on with its parent's number, from blocks of its own. A caller inside a
    transaction never waits for another thread, which may wait for that transaction.
    """

    def __init__(
        self,
        worker_id: str,
        cluster_size: int,
        lead_ms: int,
        *,
        using: str = "default",
        patience_seconds: float = PATIENCE_SECONDS,
        time_ns: Callable[[], int] = time.time_ns,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.worker_id, self.cluster_size, self.lead_ms = worker_id, cluster_size, lead_ms
        self.using, self.patience_seconds = using, patience_seconds
        self.number: Number | None = None
        self._time_ns, self._sleep, self._monotonic = time_ns, sleep, monotonic
        self._lock, self._refilling = threading.Lock(), threading.Lock()
        self._holder, self._is_borrowed = this_process(), False
        self._block_size = max(1, lead_ms // 2)
        self._last_ms = self._end_ms = -1
        self._since_ns = self._until_ns = 0
        self._mark = Mark()
        self._second, self._digits = -1, ""
        self._tails: list[str] = []

    def get_job_id(self) -> str:
        return self._next() or self._insist(self._single)

    def get_job_ids(self, count: int) -> list[str]:
        """Many at once: they may run ahead of the clock by their own length."""
        if not isinstance(count, int):
            raise BadNumbering(f"a batch is a whole number of ids, not {count!r}")
        if count < 1:
            return []
        if count > MOST_IDS:
            raise BadNumbering(f"one batch has at most {MOST_IDS} ids, not {count}")
        return self._insist(lambda is_first: self._batch(count))

    def release(self) -> None:
        """Give the number back, on a clean stop; a child leaves it to its parent."""
        with self._lock:
            number, self.number = self.number, None
            last_ms, end_ms = self._last_ms, self._end_ms
            self._end_ms = -1
        if number is not None and not self._is_borrowed:
            with separate_connection(self.using) as using:
                number.release(last_ms, end_ms, using)

    def forked(self) -> None:
        """In the child: nothing of the parent's block may be used twice."""
        self._lock, self._refilling = threading.Lock(), threading.Lock()
        self._holder, self._is_borrowed = this_process(), True
        self._end_ms = -1
        self._block_size = min(self._block_size, CHILDS_BLOCK)

    def _next(self) -> str | None:
        """The next id of the block, while the number is ours for sure."""
        with self._lock:
            now_ns = self._time_ns()
            ms = now_ns // 1_000_000
            if ms <= self._last_ms:
                ms = self._last_ms + 1
            if ms <= self._end_ms and self._since_ns <= now_ns < self._until_ns:
                self._last_ms = ms
                return self._formatted(ms)
        return None

    def _insist(self, attempt: Callable[[bool], T]) -> T:
        """Try until patience ends; nobody waits for the one who sleeps here."""
        begun, is_first = self._monotonic(), True
        while True:
            try:
                return attempt(is_first)
            except NoJobIdYet as error:
                waited = self._monotonic() - begun + error.wait_seconds
                if waited > min(self.patience_seconds, error.patience_seconds):
                    raise
                self._sleep(error.wait_seconds)
                is_first = False

    def _single(self, is_first: bool) -> str:
        """From a new block. Whoever has waited takes few: those who share the number do, too."""
        least = (self._block_size if is_first else CHILDS_BLOCK) // 4
        wish = single_ids(self._block_size, self.lead_ms, least=least)
        if connections[self.using].in_atomic_block:
            return self._refilled(wish)
        with self._one_refills():
            return self._next() or self._refilled(wish)

    def _batch(self, count: int) -> list[str]:
        number, found, _ = self._reserve(batch(count, self.lead_ms))
        self._use(found, found.end_ms)
        tails = digits.tails(number.number, self.cluster_size)
        return digits.format_range(found.start_ms, count, tails)

    @contextmanager
    def _one_refills(self) -> Iterator[None]:
        """One thread asks the database, the others wait for its block.

        Not those inside a transaction: the one that asks may have to wait for them.
        """
        if not self._refilling.acquire(timeout=self.patience_seconds):
            raise DatabaseBusy("the database keeps another thread waiting for job ids")
        try:
            yield
        finally:
            self._refilling.release()

    def _refilled(self, wish: Wish) -> str:
        """The first id of a new block, whose rest is kept."""
        number, found, since_ns = self._reserve(wish)
        self._use(found, found.start_ms)
        with self._lock:
            if self.number == number and self._last_ms < found.end_ms:
                self._end_ms = max(self._end_ms, found.end_ms)
                self._since_ns, self._until_ns = since_ns, since_ns + LEASE_SECONDS * 10**9
        return digits.format_id(found.start_ms, number.number, self.cluster_size)

    def _reserve(self, wish: Wish) -> tuple[Number, Block, int]:
        since_ns = self._time_ns()
        with separate_connection(self.using) as using:
            reserve = partial(self._reserve_in, using, wish)
            number, found = retry_busy(reserve, using, repeatable=True)
        if isinstance(found, Block):
            return number, found, since_ns
        seconds = found / 1000
        said = f"job ids of this process are ahead of the clock; there is room in {seconds:.1f} s"
        raise TooManyJobIds(said, wait_seconds=seconds)

    def _reserve_in(self, using: str, wish: Wish) -> tuple[Number, Block | int]:
        for _ in range(2):
            number = self.number or self._take(using)
            floor = replace(self._mark, ms=self._last_ms)
            try:
                return number, number.reserve(self._checked_ms, wish, floor, using)
            except LeaseLost:
                self.number = None
        raise BadNumbering("the worker number is lost as soon as it is taken")

    def _take(self, using: str) -> Number:
        self._checked_ms()
        number = take(self.worker_id, self.cluster_size, self._holder, using)
        with self._lock:
            self.number, self._is_borrowed = number, False
            self._tails = digits.tails(number.number, self.cluster_size)
            self._end_ms = -1
        return number

    def _use(self, found: Block, last_ms: int) -> None:
        """Ids of a process grow: a block that another thread has overtaken is given up."""
        with self._lock:
            if found.start_ms <= self._last_ms:
                raise TooManyJobIds("another thread was faster", wait_seconds=0)
            self._last_ms, self._mark = last_ms, found.mark

    def _checked_ms(self) -> int:
        """The clock, if an id can hold it."""
        now_ms = self._time_ns() // 1_000_000
        try:
            digits.second_digits(now_ms // 1000)
        except ValueError as error:
            raise BadNumbering(str(error)) from error
        return now_ms

    def _formatted(self, ms: int) -> str:
        second, rest = divmod(ms, 1000)
        if second != self._second:
            self._second, self._digits = second, digits.second_digits(second)
        return self._digits + self._tails[rest]
