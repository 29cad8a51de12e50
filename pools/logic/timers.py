"""Named moments in the future."""

import heapq
import itertools
import math
from collections.abc import Hashable

FEW = 64  # fewer cancelled ones than this do not matter


class Timers:
    def __init__(self) -> None:
        self._at: dict[Hashable, tuple[float, int]] = {}
        self._heap: list[tuple[float, int, Hashable]] = []
        self._serial = itertools.count()

    def set(self, name: Hashable, at: float) -> None:
        """Set the one moment of a name; setting it again moves it."""
        entry = (at, next(self._serial))
        self._at[name] = entry
        heapq.heappush(self._heap, (*entry, name))
        if len(self._heap) > 2 * len(self._at) + FEW:
            self._heap = [(*known, name) for name, known in self._at.items()]
            heapq.heapify(self._heap)

    def cancel(self, name: Hashable) -> None:
        self._at.pop(name, None)

    def clear(self) -> None:
        self._at.clear()
        self._heap.clear()

    def __contains__(self, name: Hashable) -> bool:
        return name in self._at

    def next_at(self) -> float:
        self._forget_old()
        return self._heap[0][0] if self._heap else math.inf

    def pop_due(self, now: float) -> Hashable | None:
        """Return the earliest name that is due, or None."""
        self._forget_old()
        if not self._heap or self._heap[0][0] > now:
            return None
        name = heapq.heappop(self._heap)[2]
        del self._at[name]
        return name

    def _forget_old(self) -> None:
        while self._heap and self._at.get(self._heap[0][2]) != self._heap[0][:2]:
            heapq.heappop(self._heap)
