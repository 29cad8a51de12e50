"""Make the job ids of a process from blocks of milliseconds that are reserved in the database."""

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
from allocation.job_ids import further_numbers
from allocation.job_ids.further_numbers import FurtherNumbers
from allocation.job_ids.worker_numbers import LEASE_SECONDS, Number, take
from allocation.logic import job_ids as digits
from allocation.logic.id_blocks import (
    MOST_AHEAD_MS,
    Block,
    BlockRequest,
    Mark,
    batch,
    numbers_for,
    single_ids,
)
from atributo_site.core.errors import DatabaseBusy, LeaseLost
from atributo_site.core.leases import this_process
from atributo_site.core.retry import retry_busy

T = TypeVar("T")
MOST_IDS = MOST_AHEAD_MS  # in one batch: each takes one millisecond of the number
CHILDS_BLOCK = 20  # a forked child shares its parent's number and needs few
PATIENCE_SECONDS = 10.0


class Generator:
    """Give out ids from blocks of milliseconds that are stored before they are used.

    A number has one id per millisecond; a busy process has further ones with the same block. A
    forked child goes on with its parent's number, from blocks of its own. A caller inside a
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
        self._second_ms, self._digits = -1000, ""  # the second of the last id
        self._further = FurtherNumbers(cluster_size)
        self._tails: dict[int, list[str]] = {}  # of each number of the block, in their order
        self._places: list[list[str]] = []
        self._place = self._last_place = 0  # of the number that made the last id; of the last one
        self._made, self._counted_at = 0, monotonic()  # ids since the last block began

    def get_job_id(self) -> str:
        return self._next() or self._insist(self._single)

    def get_job_ids(self, count: int) -> list[str]:
        """Return many at once; they may run ahead of the clock by their own length."""
        if not isinstance(count, int):
            raise BadNumbering(f"a batch is a whole number of ids, not {count!r}")
        if count < 1:
            return []
        if count > MOST_IDS:
            raise BadNumbering(f"one batch has at most {MOST_IDS} ids, not {count}")
        return self._insist(lambda is_first: self._batch(count))

    def release(self) -> None:
        """Give the number back on a clean stop; a forked child leaves that to its parent."""
        with self._lock:
            number, self.number = self.number, None
            last_ms, end_ms = self._last_ms, self._end_ms
            self._end_ms = -1
        if number is not None and not self._is_borrowed:
            with separate_connection(self.using) as using:
                self._further.release(last_ms, end_ms, using)
                number.release(last_ms, end_ms, using)

    def forked(self) -> None:
        """Drop the parent's block in a forked child, so that no id is made twice."""
        self._lock, self._refilling = threading.Lock(), threading.Lock()
        self._holder, self._is_borrowed = this_process(), True
        self._end_ms = -1
        self._further.forget()
        self._block_size = min(self._block_size, CHILDS_BLOCK)

    def _next(self) -> str | None:
        """Return the next id of the block, while the lease of the number surely lasts."""
        with self._lock:
            now_ns = self._time_ns()
            ms, place = now_ns // 1_000_000, 0
            if ms <= self._last_ms:
                if self._place < self._last_place:
                    ms, place = self._last_ms, self._place + 1
                else:
                    ms = self._last_ms + 1
            if ms <= self._end_ms and self._since_ns <= now_ns < self._until_ns:
                self._last_ms, self._place = ms, place
                self._made += 1
                return self._formatted(ms, place)
        return None

    def _insist(self, attempt: Callable[[bool], T]) -> T:
        """Try until the patience ends; no other thread waits for one that sleeps here."""
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
        """Return an id of a new block; a small one after a wait, as others share the number."""
        least = (self._block_size if is_first else CHILDS_BLOCK) // 4
        request = single_ids(self._block_size, self.lead_ms, least=least)
        if connections[self.using].in_atomic_block:
            return self._refilled(request)
        with self._one_refills():
            return self._next() or self._refilled(request)

    def _batch(self, count: int) -> list[str]:
        number, block = self._reserve(batch(count, self.lead_ms))
        with self._lock:
            self._use(block, block.end_ms)
        tails = digits.tails(number.number, self.cluster_size)
        return digits.format_range(block.start_ms, count, tails)

    @contextmanager
    def _one_refills(self) -> Iterator[None]:
        """Let one thread ask the database, while the others wait for its block.

        Threads inside a transaction do not wait: the one that asks may have to wait for them.
        """
        if not self._refilling.acquire(timeout=self.patience_seconds):
            raise DatabaseBusy("the database keeps another thread waiting for job ids")
        try:
            yield
        finally:
            self._refilling.release()

    def _refilled(self, request: BlockRequest) -> str:
        """Reserve a block, keep its rest, and return its first id."""
        since_ns = self._time_ns()
        number, block = self._reserve(request)
        further = self._covered(block, self._numbers_needed() - 1)
        with self._lock:
            self._use(block, block.start_ms)
            numbers = sorted([number.number, *further])
            if self.number == number:
                self._set_numbers(numbers)
                seconds = further_numbers.LEASE_SECONDS if further else LEASE_SECONDS
                self._end_ms = block.end_ms
                self._since_ns, self._until_ns = since_ns, since_ns + seconds * 10**9
            self._made, self._counted_at = 1, self._monotonic()
        return digits.format_id(block.start_ms, numbers[0], self.cluster_size)

    def _numbers_needed(self) -> int:
        """Return how many numbers the ids since the last block would have needed."""
        if self.worker_id != "auto" or self._is_borrowed:
            return 1
        elapsed_ms = (self._monotonic() - self._counted_at) * 1000
        return numbers_for(self._made, elapsed_ms, self.cluster_size)

    def _covered(self, block: Block, count: int) -> list[int]:
        """Return the further numbers that have the same block."""
        with separate_connection(self.using) as using:
            cover = partial(self._further.cover, block, count, self._holder, using)
            return retry_busy(cover, using, repeatable=True)

    def _set_numbers(self, numbers: list[int]) -> None:
        """Keep the texts of numbers that are in use; to make them takes a millisecond."""
        known, size = self._tails, self.cluster_size
        self._tails = {each: known.get(each) or digits.tails(each, size) for each in numbers}
        self._places, self._place = list(self._tails.values()), 0
        self._last_place = len(self._places) - 1

    def _reserve(self, request: BlockRequest) -> tuple[Number, Block]:
        with separate_connection(self.using) as using:
            reserve = partial(self._reserve_in, using, request)
            number, reserved = retry_busy(reserve, using, repeatable=True)
        if isinstance(reserved, Block):
            return number, reserved
        seconds = reserved / 1000
        text = f"job ids of this process are ahead of the clock; there is room in {seconds:.1f}s"
        raise TooManyJobIds(text, wait_seconds=seconds)

    def _reserve_in(self, using: str, request: BlockRequest) -> tuple[Number, Block | int]:
        for _ in range(2):
            number = self.number or self._take(using)
            floor = replace(self._mark, ms=self._last_ms)
            try:
                return number, number.reserve(self._checked_ms, request, floor, using)
            except LeaseLost:
                self.number = None
        raise BadNumbering("the worker number is lost as soon as it is taken")

    def _take(self, using: str) -> Number:
        self._checked_ms()
        number = take(self.worker_id, self.cluster_size, self._holder, using)
        with self._lock:
            self.number, self._is_borrowed = number, False
            self._end_ms = -1
        return number

    def _use(self, block: Block, last_ms: int) -> None:
        """Use a new block unless another thread has a later one: ids of a process grow."""
        if block.start_ms <= self._last_ms:
            raise TooManyJobIds("another thread was first", wait_seconds=0)
        self._last_ms, self._end_ms, self._mark = last_ms, -1, block.mark

    def _checked_ms(self) -> int:
        """Return the clock, if an id can hold it."""
        now_ms = self._time_ns() // 1_000_000
        try:
            digits.second_digits(now_ms // 1000)
        except ValueError as error:
            raise BadNumbering(str(error)) from error
        return now_ms

    def _formatted(self, ms: int, place: int) -> str:
        rest = ms - self._second_ms
        if not 0 <= rest < 1000:
            rest = ms % 1000
            self._second_ms, self._digits = ms - rest, digits.second_digits(ms // 1000)
        return self._digits + self._places[place][rest]


@contextmanager
def separate_connection(using: str) -> Iterator[str]:
    """Open a connection beside the caller's, so that what it stores survives a rollback there.

    SQLite has one writer, who would wait for itself, so there it is the caller's connection.
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
