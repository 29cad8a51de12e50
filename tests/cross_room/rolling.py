"""A rolling restart: workers of three instances stop and start in turn, under load."""

import json
import random
import signal
from collections import Counter

import queues
from allocation.models import PastAllocation
from queues.maintenance.invariants import STATION_INVARIANTS
from queues.models import QueuedJob, Slot

INSTANCES = ("a", "b", "c")
PATIENT = {"ATRIBUTO_WORKER_LEASE_MS": "60000"}  # a slow worker does not count as away


class Rolling:
    def __init__(self, script, start, wait_until, path, policy, keys):
        self.script, self.start, self.wait_until, self.path = script, start, wait_until, path
        self.keys = [f"key-{number}" for number in range(keys)]
        self.random = random.Random(7)
        self.policy = policy
        self.queue = queues.create("rolling", max_workers=3)
        queues.catalogue.set_when_away("rolling", policy, 0 if policy == "move" else 3600)
        self.workers = dict(zip(INSTANCES, start(*INSTANCES, **PATIENT), strict=True))
        self.pushed = []
        self.most_running = 0
        self.most_moves = 0  # of one key during one restart
        self.broken = []

    def restart_all(self, jobs_before_each):
        for name in INSTANCES:
            self._push(jobs_before_each)
            before = self._moves()
            self.workers[name].send_signal(signal.SIGTERM)
            self._push(jobs_before_each)
            assert self.workers[name].wait(60) == 0
            self._push(jobs_before_each)
            if self.policy == "move":
                self.wait_until(lambda away=name: not QueuedJob.objects.waiting_at(away).exists())
            self.workers[name] = self.start(name, **PATIENT)
            self.most_moves = max([self.most_moves, *(self._moves() - before).values()])

    def finish(self, seconds):
        self.wait_until(self._is_done, seconds)

    def lost(self):
        complete = set(self.queue.complete())
        return [job_id for job_id in self.pushed if job_id not in complete]

    def lines(self):
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def why_moved(self):
        return {past.end_reason.split(" to ")[0] for past in PastAllocation.objects.all()}

    def _moves(self):
        return Counter(PastAllocation.objects.values_list("job_id", flat=True))

    def _push(self, count):
        for _ in range(count):
            order = {"file": str(self.path), "sleep": self.random.choice([0, 0, 0.01, 0.05])}
            key = self.random.choice(self.keys)
            self.pushed.append(self.queue.push(self.script, order, sticky_key=key))
            self._look()
        self.broken += [line for _, _, broken in STATION_INVARIANTS for line in broken()]

    def _look(self):
        live = Slot.objects.live().filter(queue__name="rolling").count()
        self.most_running = max(self.most_running, live)

    def _is_done(self):
        self._look()
        return not QueuedJob.objects.unfinished().exists()


def overlaps(lines):
    """Return pairs of runs of one key that overlapped."""
    found = []
    for key in {line["sticky_key"] for line in lines}:
        runs = sorted((l for l in lines if l["sticky_key"] == key), key=lambda l: l["began"])  # noqa: E741
        for before, after in zip(runs, runs[1:], strict=False):
            if after["began"] < before["ended"]:
                found.append((before, after))
    return found


def out_of_order(lines):
    """Return the keys whose jobs did not run in the order of push."""
    jobs = {}
    for line in sorted(lines, key=lambda line: line["began"]):
        jobs.setdefault(line["sticky_key"], []).append(int(line["job"]))
    return [key for key, ran in jobs.items() if ran != sorted(ran)]
