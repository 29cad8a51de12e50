"""What can go wrong, one method each; what must be mended later is put on the agenda."""

import random
import signal
import sqlite3
import threading
import time
from contextlib import suppress

import redis

WORKERS = 3


class Faults:
    def __init__(self, stage, seed, only_kills=False):
        self.stage = stage
        self.only_kills = only_kills
        self.troubles = []  # moments of anything that Redis suffered
        self.random = random.Random(seed)
        self.counts = {}
        self.workers = [stage.worker() for _ in range(WORKERS)]
        self.curator = stage.curator()
        self._agenda = []  # (moment, what is undone then)
        self._redis_away = False

    def strike(self):
        """One fault at random, of a kind that was seen least often."""
        kinds = self.kinds()
        least = min(self.counts.get(kind.__name__, 0) for kind in kinds)
        rare = [kind for kind in kinds if self.counts.get(kind.__name__, 0) <= least]
        fault = self.random.choice(rare)
        self.counts[fault.__name__] = self.counts.get(fault.__name__, 0) + 1
        self._note_trouble(fault in OF_REDIS)
        fault(self)
        self._note_trouble(fault in OF_REDIS)

    def kinds(self):
        if self.only_kills:
            return KILLS
        shared = [*SHARED, restart_database if self.stage.postgres else lock_database]
        return shared if self._redis_away else [*shared, *OF_REDIS]

    def mend(self, moment=None):
        """Undo what is due by now, and replace who died, as a supervisor does."""
        now = time.monotonic() if moment is None else moment
        due = [undo for at, undo in self._agenda if at <= now]
        self._agenda = [(at, undo) for at, undo in self._agenda if at > now]
        for undo in due:
            undo()
        self.workers = [w if w.is_running() else self.stage.worker() for w in self.workers]
        if not self.curator.is_running():
            self.curator = self.stage.curator()

    def mend_all(self):
        self.mend(float("inf"))

    def later(self, seconds, undo):
        self._agenda.append((time.monotonic() + seconds, undo))

    def victim(self):
        return self.random.choice(self.busy() if self.only_kills else self.workers)

    def busy(self):
        """Those that hold a slot, once there are some: an idle one has nothing to repeat."""
        from queues.models import Slot

        give_up = time.monotonic() + 5
        while time.monotonic() < give_up:
            holders = " ".join(Slot.objects.exclude(holder="").values_list("holder", flat=True))
            found = [worker for worker in self.workers if f":{worker.pid}:" in holders]
            if found:
                return found
            time.sleep(0.02)
        return self.workers

    def take_redis_away(self, seconds):
        self._redis_away = True
        self._note_trouble()
        self.stage.valkey.kill()
        self.later(seconds, self._bring_redis_back)

    def _bring_redis_back(self):
        self.stage.valkey.start()
        self.is_back()

    def is_back(self):
        self._redis_away = False
        self._note_trouble()

    def _note_trouble(self, is_one=True):
        if is_one or self._redis_away:
            self.troubles.append(time.time())


def kill_worker(faults):
    faults.victim().send_signal(signal.SIGKILL)


def kill_child(faults):
    for child in faults.stage.children_of(faults.victim()):
        with suppress(Exception):  # it may have ended by itself
            child.kill()


def kill_both(faults):
    victim = faults.victim()
    for child in faults.stage.children_of(victim):
        with suppress(Exception):  # it may have ended by itself
            child.kill()
    victim.send_signal(signal.SIGKILL)


def stop_beyond_the_lease(faults):
    victim = faults.victim()
    victim.send_signal(signal.SIGSTOP)
    # By a thread: it may hold the lock that the storm itself waits for.
    threading.Timer(2.5, victim.send_signal, [signal.SIGCONT]).start()


def end_politely(faults):
    faults.victim().send_signal(signal.SIGTERM)


def kill_curator(faults):
    faults.curator.send_signal(signal.SIGKILL)


def restart_database(faults):
    faults.stage.postgres.restart("immediate")


def lock_database(faults):
    """SQLite has no server to restart: somebody holds its only write lock instead.

    A thread lets it go, because the storm itself may be waiting for it.
    """
    path = f"{faults.stage.folder}/storm.sqlite3"
    connection = sqlite3.connect(path, timeout=20, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    threading.Timer(1.0, connection.close).start()


def flush_redis(faults):
    with suppress(redis.RedisError), redis.Redis.from_url(faults.stage.valkey.url) as client:
        client.flushall()


def restart_redis_empty(faults):
    faults.stage.valkey.restart_empty()


def hang_redis(faults):
    faults.stage.valkey.pause()
    faults._redis_away = True
    faults.later(3.0, lambda: _resume(faults))


def _resume(faults):
    faults.stage.valkey.resume()
    faults.is_back()


KILLS = [kill_worker, kill_child, kill_both]
SHARED = [
    *KILLS,
    stop_beyond_the_lease,
    end_politely,
    kill_curator,
]
OF_REDIS = [flush_redis, restart_redis_empty, hang_redis]
