"""What scripts say themselves of every execution, against the attempts that are recorded.

While the database and Redis are there, each execution has its attempt, and a kill repeats at
most the jobs that were under way. What Redis forgets takes the notes of at most one batch of
each worker that dies within their reach with it: that is told, and no broken promise.
"""

from collections import Counter
from pathlib import Path

from queues.models import Run

AROUND_SECONDS = 20  # a batch, a lease, the patience of recovery and the machine's own slowness


class Executions:
    def __init__(self, path, at_once=1):
        self.path = path
        self.at_once = at_once  # jobs that one worker runs

    def told(self, faults):
        found = self._lines()
        return {
            "executions": len(found),
            "unrecorded": len(self._unrecorded(found)),
            "unrecorded beside a loss of Redis": len(self._excused(faults, found)),
        }

    def broken(self, faults):
        found = self._lines()
        unrecorded = self._unrecorded(found)
        excused = self._excused(faults, found)
        broken = [f"executed without an attempt: {each}" for each in unrecorded - excused]
        lost = Run.objects.filter(outcome="lost").count()
        if faults.only_kills and lost > self.at_once * sum(faults.counts.values()):
            broken.append(f"{lost} attempts lost by {sum(faults.counts.values())} kills")
        return broken

    def _lines(self):
        if not Path(self.path).exists():
            return []
        lines = [line.split() for line in Path(self.path).read_text().splitlines()]
        return [(int(job), int(attempt), float(moment)) for job, attempt, moment in lines]

    def _unrecorded(self, found):
        """Every line beyond the one that an attempt stands for."""
        recorded = Counter(set(Run.objects.values_list("job_id", "attempt")))
        left = set()
        for job, attempt, moment in found:
            recorded[job, attempt] -= 1
            if recorded[job, attempt] < 0:
                left.add((job, attempt, moment))
        return left

    def _excused(self, faults, found):
        return {
            each
            for each in self._unrecorded(found)
            if any(abs(moment - each[2]) < AROUND_SECONDS for moment in faults.troubles)
        }
