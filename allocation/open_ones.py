"""The candidates that have room, kept in their order while jobs come and go."""

from bisect import bisect_left
from dataclasses import replace

from allocation.candidates import Candidates


class OpenOnes:
    """`room` is how many more jobs each instance with a capacity may get."""

    def __init__(self, candidates: Candidates, room: dict[str, int]) -> None:
        self._room = room
        self._known = {each.id: each for each in candidates.all if each.id in room}
        open_ones = [each for each in candidates.all if room.get(each.id, 1) > 0]
        self._open = open_ones
        self.candidates = replace(candidates, all=open_ones) if room else candidates

    def add(self, instance_id: str, jobs: int = 1) -> None:
        """So many jobs come to an instance, or leave it."""
        if instance_id not in self._room:
            return
        before = self._room[instance_id]
        self._room[instance_id] = after = before - jobs
        if (before > 0) != (after > 0):
            self._open_or_shut(instance_id, after > 0)

    def _open_or_shut(self, instance_id: str, is_open: bool) -> None:
        place = bisect_left(self._open, instance_id, key=lambda each: each.id)
        if is_open:
            self._open.insert(place, self._known[instance_id])
        else:
            del self._open[place]
