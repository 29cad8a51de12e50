"""Reserve blocks of milliseconds for job ids, not too far ahead of the clock."""

import math
from collections.abc import Callable
from dataclasses import dataclass

MOST_AHEAD_MS = 1_000_000  # as long as the longest batch; then wait for the clock
MOST_NUMBERS = {10: 1, 100: 10, 1000: 20}  # of one process, by the size of the cluster


@dataclass(frozen=True, slots=True)
class Mark:
    """The last millisecond that may be given out, and why it lies before the clock.

    `ahead_ms` is how far batches, or a clock that went back, have pushed it; `set_back_ms` is
    the share of the clock, which is not held against batches.
    """

    ms: int = 0
    ahead_ms: int = 0
    set_back_ms: int = 0

    def at(self, now_ms: int, lead_ms: int) -> "Mark":
        """Return the mark as the clock sees it now: the lead shrinks as time passes.

        A mark further ahead than ids can be means that a clock went back.
        """
        over_ms = self.ms - now_ms
        if over_ms > self.ahead_ms + lead_ms:
            return Mark(self.ms, over_ms, self.set_back_ms + over_ms - self.ahead_ms)
        ahead_ms = max(0, min(self.ahead_ms, over_ms))
        return Mark(self.ms, ahead_ms, min(self.set_back_ms, ahead_ms))


@dataclass(frozen=True, slots=True)
class Block:
    """Milliseconds that one process may use, and the mark that is stored before it does."""

    start_ms: int
    mark: Mark

    @property
    def end_ms(self) -> int:
        return self.mark.ms


# It returns the next block, or the milliseconds until there is one.
BlockRequest = Callable[[Mark, int], Block | int]


def single_ids(count: int, lead_ms: int, *, least: int = 1) -> BlockRequest:
    """Ask for at most `count` ids, ahead of the clock by the mark of batches and a lead at most.

    Fewer than `least` would be used up at once, so wait for twice as many.
    """
    least = max(1, min(least, count))

    def request(mark: Mark, now_ms: int) -> Block | int:
        mark = mark.at(now_ms, lead_ms)
        start_ms = max(now_ms, mark.ms + 1)
        limit_ms = now_ms + mark.ahead_ms + lead_ms
        room = limit_ms - start_ms + 1
        if room < least:
            return 2 * least - room
        end_ms = min(start_ms + count - 1, limit_ms)
        return Block(start_ms, Mark(end_ms, mark.ahead_ms, mark.set_back_ms))

    return request


def batch(count: int, lead_ms: int) -> BlockRequest:
    """Ask for all of them, as far before the clock as their number takes them, up to a bound."""

    def request(mark: Mark, now_ms: int) -> Block | int:
        mark = mark.at(now_ms, lead_ms)
        most_ahead_ms = mark.set_back_ms + MOST_AHEAD_MS
        start_ms = max(now_ms, mark.ms + 1)
        end_ms = start_ms + count - 1
        if end_ms > now_ms + most_ahead_ms + lead_ms:
            return end_ms - now_ms - most_ahead_ms - lead_ms
        ahead_ms = max(mark.ahead_ms, min(end_ms - now_ms, most_ahead_ms))
        return Block(start_ms, Mark(end_ms, ahead_ms, mark.set_back_ms))

    return request


def numbers_for(made: int, elapsed_ms: float, cluster_size: int) -> int:
    """Return how many worker numbers a process needs that made so many ids in this time.

    Each has one id per millisecond. A quarter more lets a process grow that had to wait.
    """
    needed = math.ceil(1.25 * made / max(1.0, elapsed_ms))
    return max(1, min(needed, MOST_NUMBERS.get(cluster_size, 1)))


def free_for_more(held: int, cluster_size: int) -> int:
    """Return how many further numbers may be leased: half of them are for other processes."""
    return max(0, cluster_size // 2 - held)


def is_crowded(held: int, cluster_size: int) -> bool:
    """Return whether processes that have several numbers must give them back."""
    return held > cluster_size * 3 // 4
