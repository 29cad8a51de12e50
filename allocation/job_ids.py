"""Job ids: unique in the cluster, growing in each process, readable for people."""

import os
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import connections
from django.db.transaction import on_commit

from allocation.aside import aside
from allocation.busy import patiently
from allocation.errors import BadNumbering, InvalidJobId, LeaseLost
from allocation.id_numbers import Number, take
from allocation.leases import this_process
from allocation.logic import job_ids as digits
from allocation.logic.job_ids import Block, ParsedId

MOST_IDS = 1_000_000  # in one batch: each moves the mark of the number by a millisecond
CHILDS_BLOCK = 20  # a forked child shares its parent's number and needs few


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
        time_ns: Callable[[], int] = time.time_ns,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.worker_id, self.cluster_size, self.lead_ms = worker_id, cluster_size, lead_ms
        self.using = using
        self.number: Number | None = None
        self._time_ns, self._sleep = time_ns, sleep
        self._lock, self._refilling = threading.Lock(), threading.Lock()
        self._block_size = max(1, lead_ms // 2)
        self._last_ms = self._end_ms = -1
        self._second, self._digits = -1, ""
        self._tails: list[str] = []

    def get_job_id(self) -> str:
        while True:
            with self._lock:
                ms = self._time_ns() // 1_000_000
                if ms <= self._last_ms:
                    ms = self._last_ms + 1
                if ms <= self._end_ms:
                    self._last_ms = ms
                    return self._formatted(ms)
            made = self._refilled()
            if made is not None:
                return made

    def get_job_ids(self, count: int) -> list[str]:
        """Many at once: they may run ahead of the clock by their own length."""
        if not isinstance(count, int):
            raise BadNumbering(f"a batch is a whole number of ids, not {count!r}")
        if count < 1:
            return []
        if count > MOST_IDS:
            raise BadNumbering(f"one batch has at most {MOST_IDS} ids, not {count}")
        while True:
            number, found = self._reserve(count, None)
            if isinstance(found, Block) and self._may_use(found):
                tails = digits.tails(number.number, self.cluster_size)
                return digits.format_range(found.start_ms, count, tails)

    def release(self) -> None:
        """Give the number back, on a clean stop."""
        with self._lock:
            number, self.number = self.number, None
            last_ms, end_ms = self._last_ms, self._end_ms
            self._end_ms = -1
        if number is not None:
            with aside(self.using) as using:
                number.release(last_ms, end_ms, using)

    def forked(self) -> None:
        """In the child: nothing of the parent's block may be used twice."""
        self._lock, self._refilling = threading.Lock(), threading.Lock()
        self._end_ms = -1
        self._block_size = min(self._block_size, CHILDS_BLOCK)

    def _refilled(self) -> str | None:
        """One thread asks the database, the others wait for its block.

        Not those inside a transaction: the one that asks may have to wait for them.
        """
        if connections[self.using].in_atomic_block:
            return self._from_new_block()
        with self._refilling:
            if max(self._now_ms(), self._last_ms + 1) <= self._end_ms:
                return None
            return self._from_new_block()

    def _from_new_block(self) -> str | None:
        """The first id of a new block; None when another thread was faster, or after a wait."""
        number, found = self._reserve(self._block_size, self.lead_ms)
        if not isinstance(found, Block):
            self._sleep(found / 1000)
            return None
        if not self._may_use(Block(found.start_ms, found.start_ms, found.ahead_ms)):
            return None
        connection = connections[self.using]
        if connection.in_atomic_block and connection.vendor == "sqlite":
            # The mark goes back if the caller rolls back: keep the rest only if it stays.
            on_commit(lambda: self._keep(number, found), using=self.using)
        else:
            self._keep(number, found)
        return digits.format_id(found.start_ms, number.number, self.cluster_size)

    def _reserve(self, count: int, lead_ms: int | None) -> tuple[Number, Block | int]:
        with aside(self.using) as using:
            return patiently(lambda: self._reserve_in(using, count, lead_ms), using)

    def _reserve_in(
        self, using: str, count: int, lead_ms: int | None
    ) -> tuple[Number, Block | int]:
        for _ in range(2):
            number = self.number or self._take(using)
            try:
                return number, number.reserve(self._checked_ms, count, lead_ms, using)
            except LeaseLost:
                self.number = None
        raise BadNumbering("the worker number is lost as soon as it is taken")

    def _take(self, using: str) -> Number:
        now_ms = self._checked_ms()
        number = take(self.worker_id, self.cluster_size, this_process(), using, now_ms=now_ms)
        with self._lock:
            self.number = number
            self._tails = digits.tails(number.number, self.cluster_size)
            self._end_ms = -1
        return number

    def _may_use(self, found: Block) -> bool:
        """Whether the block lies after everything this process gave out."""
        with self._lock:
            if found.start_ms <= self._last_ms:
                return False
            self._last_ms = found.end_ms
            return True

    def _keep(self, number: Number, found: Block) -> None:
        with self._lock:
            if self.number == number and self._last_ms < found.end_ms:
                self._end_ms = max(self._end_ms, found.end_ms)

    def _checked_ms(self) -> int:
        """The clock, if an id can hold it."""
        now_ms = self._now_ms()
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

    def _now_ms(self) -> int:
        return self._time_ns() // 1_000_000


_generator: Generator | None = None


def get_job_id() -> str:
    """A new id; waits when this process has made more than one per millisecond for a while."""
    return _this_process().get_job_id()


def get_job_ids(n: int) -> list[str]:
    return _this_process().get_job_ids(n)


def parse(job_id: str | int) -> ParsedId:
    """Time, worker number and cluster size."""
    try:
        return digits.parse(job_id)
    except ValueError as error:
        raise InvalidJobId(str(error)) from error


def release() -> None:
    """On a clean stop of a process that made ids."""
    if _generator is not None:
        _generator.release()


def _this_process() -> Generator:
    global _generator
    if _generator is None:
        ours = settings.ATRIBUTO
        _generator = Generator(ours.worker_id, ours.cluster_size, ours.id_lead_ms)
    return _generator


def _after_fork() -> None:
    if _generator is not None:
        _generator.forked()


os.register_at_fork(after_in_child=_after_fork)
