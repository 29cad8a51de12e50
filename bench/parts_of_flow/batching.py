"""How long a very large batch takes, and whether each batch calls back exactly once."""

import os
import time
from typing import Any

from bench.parts_of_flow import told
from tests.servers.waiting import wait_until

JOBS = int(os.environ.get("BENCH_BATCH", "100000"))
PAIRS = int(os.environ.get("BENCH_PAIRS", "500"))
SCRIPT = {"mount": "/probe", "name": "act"}
LONGEST_SECONDS = 1800


def batches(stage: Any) -> int:
    """Drain one large batch by two workers, then batches of two whose jobs end at the same time."""
    import queues

    queues.create("large", max_workers=2)
    for _ in range(2):
        stage.worker()
    stage.curator()
    return _large() + _pairs()


def _large() -> int:
    import queues
    from queues.models import QueuedJob

    queues.pause("large")
    begun = time.perf_counter()
    with queues.get("large").batch("large", done=SCRIPT) as block:
        block.push_many(SCRIPT, [None] * JOBS)
    pushed = time.perf_counter() - begun
    queues.resume("large")
    begun = time.perf_counter()
    _wait_for_ends()
    drained = time.perf_counter() - begun
    calls = QueuedJob.objects.exclude(batch_id=block.id).count()
    figure = f"{pushed:.1f} s + {drained:.0f} s, {calls} callback"
    return told(f"{JOBS:,} jobs: pushed + drained", figure, calls == 1, "1 callback")


def _pairs() -> int:
    """Each of the two workers has one job of a pair most of the time."""
    import queues
    from queues.models import QueuedJob

    queue, before = queues.get("large"), QueuedJob.objects.count()
    queues.pause("large")
    for number in range(PAIRS):
        with queue.batch(f"pair {number}", done=SCRIPT) as block:
            block.push_many(SCRIPT, [None, None])
    queues.resume("large")
    _wait_for_ends()
    calls = QueuedJob.objects.count() - before - 2 * PAIRS
    return told(f"{PAIRS} batches of two jobs", f"{calls} callbacks", calls == PAIRS, "one each")


def _wait_for_ends() -> None:
    """Wait until no batch runs, and no callback of one does."""
    from queues.models import Batch, QueuedJob

    running = Batch.objects.exclude(state="complete")
    wait_until(lambda: not running.exists(), LONGEST_SECONDS)
    wait_until(lambda: not QueuedJob.objects.unfinished().exists(), LONGEST_SECONDS)
