"""A storm: workers, a curator, pushes, and faults of every kind at random moments."""

import random
import signal
import time
from dataclasses import dataclass, field

from queues.models import QueuedJob, Run, Slot

WORKERS = 3


@dataclass
class Story:
    """What was seen."""

    faults: int = 0
    pushed: list[str] = field(default_factory=list)
    most_running: int = 0
    most_bells: int = 0


class Storm:
    def __init__(self, queue, script, start_worker, start_curator, redis, limit, seed):
        self.queue, self.script = queue, script
        self.start_worker, self.start_curator = start_worker, start_curator
        self.redis, self.limit = redis, limit
        self.random = random.Random(seed)
        self.story = Story()
        self.workers = [start_worker(f"w{n}") for n in range(WORKERS)]
        self.curator = start_curator()
        self.serial = WORKERS

    def rage(self, seconds, faults):
        """That many faults, evenly over the time, while jobs are pushed and states sampled."""
        pause = seconds / faults
        for _ in range(faults):
            self.push()
            self.random.choice(self.FAULTS)(self)
            self.story.faults += 1
            self._watch(pause)

    def push(self):
        data = [{"sleep": self.random.choice([0, 0, 0.02, 0.1])} for _ in range(10)]
        self.story.pushed += self.queue.push_many(self.script, data)

    def calm(self, seconds):
        """No more faults: every worker is there until nothing is left to do."""
        give_up = time.monotonic() + seconds
        while QueuedJob.objects.unfinished().exists() and time.monotonic() < give_up:
            self._mend()
            self._watch(0.2)

    def _watch(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            live = Slot.objects.live().filter(queue__name=self.queue.name).count()
            self.story.most_running = max(self.story.most_running, live)
            bells = self.redis.llen("rq:queue:default")
            self.story.most_bells = max(self.story.most_bells, bells)

    def _mend(self):
        for number, worker in enumerate(self.workers):
            if not worker.is_running():
                self.workers[number] = self._another()
        if not self.curator.is_running():
            self.curator = self.start_curator()

    def _another(self):
        self.serial += 1
        return self.start_worker(f"w{self.serial}")

    def _victim(self):
        self._mend()
        return self.random.choice(self.workers)

    def kill_worker(self):
        self._victim().send_signal(signal.SIGKILL)

    def kill_child(self):
        import psutil

        for child in psutil.Process(self._victim().pid).children():
            child.kill()

    def stop_for_long(self):
        """Longer than its lease, then on again."""
        victim = self._victim()
        victim.send_signal(signal.SIGSTOP)
        self._watch(2.0)
        victim.send_signal(signal.SIGCONT)

    def flush_redis(self):
        self.redis.flushall()

    def kill_curator(self):
        self._mend()
        self.curator.send_signal(signal.SIGKILL)

    def end_politely(self):
        self._victim().send_signal(signal.SIGTERM)

    FAULTS = [kill_worker, kill_child, stop_for_long, flush_redis, kill_curator, end_politely]


def broken_promises(storm, limit):
    """One line for each promise that the rows break."""
    wanted = set(map(int, storm.story.pushed))
    rows = dict(QueuedJob.objects.values_list("pk", "status"))
    broken = [f"lost: {job}" for job in wanted - set(rows)]
    broken += [f"unfinished: {job} {status}" for job, status in rows.items() if status in UNDONE]
    complete = Run.objects.filter(outcome="complete").values_list("job_id", flat=True)
    counted = list(complete)
    broken += [f"recorded twice: {job}" for job in set(counted) if counted.count(job) > 1]
    if storm.story.most_running > limit:
        broken.append(f"{storm.story.most_running} ran at once, {limit} may")
    if storm.story.most_bells > limit + 1:
        broken.append(f"{storm.story.most_bells} bells for {limit} slots")
    return broken


UNDONE = {"pending", "progress"}
