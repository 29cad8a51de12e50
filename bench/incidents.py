"""Measure how soon a fault is an incident, and how soon it is over when its cause is gone.

    python -m bench.incidents sqlite    the other database; default settings, one worker
    BENCH_ROUNDS=1                      a quick look

Each fault really happens: a queue is paused, a script raises, an instance stops its heartbeats, a
roll back fails, the worker is killed. The figure is the time from the moment at which the site
could know it (the target age, the lease or the fifth failure has passed) until the curator has
stored the row that pages show. Goal: 5 seconds. The exit code is 1 when one takes longer.
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager

from tests.queues.storm.stage import Stage
from tests.servers.waiting import wait_until

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
GOAL_SECONDS = 5.0
ACT = {"mount": "/probe", "name": "act"}


def main() -> int:
    database = sys.argv[1] if sys.argv[1:] else "postgresql"
    with Stage(database, settings={}) as stage:
        stage.curator()
        wait_until(has_curator, 60)
        print(f"{database}, default settings, {ROUNDS} rounds: seen · over, in seconds", flush=True)
        worst = 0.0
        for name, fault in FAULTS.items():
            times = [measure(stage, *fault, number) for number in range(ROUNDS)]
            seen, over = [max(each) for each in zip(*times, strict=True)]
            worst = max(worst, seen)
            mark = "" if seen <= GOAL_SECONDS else "  <<<"
            print(f"  {name:24}{seen:6.1f} {over:6.1f}{mark}", flush=True)
        return int(worst > GOAL_SECONDS)


def measure(stage, kind: str, fault: Callable, number: int) -> tuple[float, float]:
    """Return how long the incident took to open, and then to end."""
    from atributo_site.models import Incident

    rows = Incident.objects.unresolved().filter(kind=kind)
    wait_until(lambda: not rows.exists(), 60)
    with fault(stage, number) as known_at:
        wait_until(rows.exists, 60)
        seen = time.monotonic() - known_at
    begun = time.monotonic()
    wait_until(lambda: not rows.exists(), 120)
    return max(seen, 0.0), time.monotonic() - begun


def has_curator() -> bool:
    from atributo_site.core.models import Lease

    return Lease.objects.held().filter(role="curator").exists()


@contextmanager
def paused_queue(stage, number):
    import queues
    from queues.catalogue import set_target_age

    queue = queues.create(f"paused-{number}")
    set_target_age(queue.name, 1)
    queues.pause(queue.name)
    queue.push(ACT)
    yield time.monotonic() + 1
    queues.delete(queue.name)


@contextmanager
def failing_script(stage, number):
    import queues
    from queues.models import QueuedJob

    queue = queues.create("failing")
    worker = stage.worker()
    queue.push_many(ACT, [{"odd": True}] * 5, max_failures=0)
    failed = QueuedJob.objects.filter(status="failed")
    wait_until(lambda: failed.count() == 5, 60)
    worker.terminate()
    yield time.monotonic()
    failed.delete()


@contextmanager
def dead_instance(stage, number):
    from allocation.atributo import Atributo

    ao = Atributo()
    ao.available("ada", lease_seconds=1)
    ao.allocate("key")
    yield time.monotonic() + 1
    ao.available("ada")


@contextmanager
def stuck_roll_back(stage, number):
    from allocation.transactions import Client, Transaction
    from allocation.transactions.engine.roll_back import mark_stuck
    from allocation.transactions.models import Transaction as Row

    txn = Transaction(Client(), owner="bench")
    for _ in range(12):
        mark_stuck(txn.id, Row.objects.get(pk=txn.id).epoch, OSError("no space left on device"))
    yield time.monotonic()
    Row.objects.filter(pk=txn.id).delete()


@contextmanager
def killed_worker(stage, number):
    from atributo_site.core.models import Lease

    worker = stage.worker()
    mine = Lease.objects.held().filter(role__startswith="worker/")
    wait_until(mine.exists, 60)
    worker.kill()
    wait_until(lambda: not mine.exists(), 60)
    yield time.monotonic()
    Lease.objects.filter(role__startswith="worker/").delete()


FAULTS = {
    "a queue is paused": ("queue.paused", paused_queue),
    "a script raises": ("jobs.failing", failing_script),
    "an instance is dead": ("instance.dead", dead_instance),
    "a rollback fails": ("transactions.stuck", stuck_roll_back),
    "a worker is killed": ("worker.silent", killed_worker),
}

if __name__ == "__main__":
    sys.exit(main())
