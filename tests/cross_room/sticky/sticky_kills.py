"""Kill workers of instances, their keepers and their children while sticky jobs run."""

import os
import random
from contextlib import suppress

import psutil

from allocation.transactions import Client
from allocation.transactions.models import Lock
from queues.models import QueuedJob
from tests.servers.process import has_ended

POSTS = ["a", "a", "b"]
KEYS = [f"key-{number}" for number in range(4)]
LONG_SECONDS = 180


class StickyKills:
    """`start(instance, name)` starts a worker, `repair()` does what a curator does."""

    def __init__(self, queue, script, start, repair, expire, wait_until, folder, seed):
        self.queue, self.script, self.start_worker = queue, script, start
        self.repair, self.expire, self.wait_until = repair, expire, wait_until
        self.folder = folder
        self.random = random.Random(seed)
        self.pushed = {key: [] for key in KEYS}
        self.client = Client()
        for key in [*KEYS, "everybody"]:
            self.client.put("serial", key, []).raise_for_status()
        self.serial = 0
        self.workers = [self._hired(post) for post in POSTS]

    def push(self, each):
        """Push so many jobs of each key, one after the other."""
        for _ in range(each):
            for key in KEYS:
                order = {"folder": str(self.folder), "key": key}
                order["sleep"] = self.random.choice([0, 0.02, 0.2])
                options = {"max_failures": -1, "back_off": 0, "sticky_key": key}
                self.pushed[key].append(self.queue.push(self.script, order, **options))

    def strike(self, whom):
        """Kill with -9 while a job runs: the worker, its keeper, the child, or all of them."""
        self.wait_until(self._has_begun, LONG_SECONDS)
        place = self.random.randrange(len(POSTS))
        worker = self.workers[place]
        family = psutil.Process(worker.pid).children(recursive=True)
        struck = {"worker": [], "family": family, "keeper": family[:1], "child": family[-1:]}[whom]
        for process in struck:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if whom in ("worker", "family"):
            worker.kill()
            self._bury(place, worker, family)

    def finish(self):
        self.wait_until(self._is_finished, LONG_SECONDS, "jobs are left")

    def lists(self):
        """Return key → the jobs whose changes stand, in their order."""
        return {key: self.client.get("serial", key).json for key in KEYS}

    def everybody(self):
        return sorted(self.client.get("serial", "everybody").json)

    def overlaps(self):
        path = self.folder / "overlaps"
        return path.read_text().splitlines() if path.exists() else []

    def _bury(self, place, worker, family):
        """End its leases once nobody of it lives, as they end by themselves after a while."""
        self.wait_until(lambda: all(has_ended(process.pid) for process in family), LONG_SECONDS)
        self.expire(worker)
        self.repair()
        self.workers[place] = self._hired(POSTS[place])

    def _hired(self, instance_id):
        """Start one under a new name: the lease of an old name lasts a while."""
        self.serial += 1
        return self.start_worker(instance_id, f"w{self.serial}")

    def _has_begun(self):
        self.repair()
        running = QueuedJob.objects.filter(slot__isnull=False)
        return running.exists() or not QueuedJob.objects.unfinished().exists()

    def _is_finished(self):
        self.repair()
        return not QueuedJob.objects.unfinished().exists() and not Lock.objects.exists()


def seed():
    chosen = int(os.environ.get("STICKY_SEED", random.randrange(10**6)))
    print(f"STICKY_SEED={chosen}")
    return chosen
