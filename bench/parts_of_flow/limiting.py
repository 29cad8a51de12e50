"""What limits and turns cost: jobs per second with and without, and one reservation."""

import os
import statistics
import time
from contextlib import nullcontext
from typing import Any

from bench.parts_of_flow import told
from tests.servers.waiting import wait_until

JOBS = int(os.environ.get("BENCH_JOBS", "5000"))
KEYS = 50
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
WAITING = int(os.environ.get("BENCH_WAITING", "1000000"))
KEYS_WAITING = WAITING // 10
FEW, SAMPLES = 1000, 200
MOST_IDS = 10**9  # of one queue
LIMIT = [{"per": "key", "at_once": 100}]


def throughput(stage: Any) -> int:
    """Drain the same jobs without anything, with flow keys, and with a limit per key."""
    import queues

    stage.worker()
    rates: dict[str, list[float]] = {"plain": [], "keys": [], "limit": []}
    for number in range(ROUNDS):
        for kind, found in rates.items():
            name = f"{kind}{number}"
            queues.create(name)
            if kind == "limit":
                queues.set_limits(name, LIMIT)
            found.append(_drained(name, kind))
    plain, keys, limit = (statistics.median(found) for found in rates.values())
    print(f"  without: {plain:,.0f} jobs/s", flush=True)
    return told(
        "with flow keys", f"{keys:,.0f}/s, {keys / plain:.0%}", keys >= 0.8 * plain, "80 %"
    ) + told(
        "with flow keys and a limit per key",
        f"{limit:,.0f}/s, {limit / plain:.0%}",
        limit >= 0.8 * plain,
        "80 %",
    )


def _drained(name: str, kind: str) -> float:
    """Return how many jobs per second one worker ends, from the first start to the last end."""
    import queues
    from queues.models import QueuedJob, Run

    queue = queues.get(name)
    queues.pause(name)
    for key in range(KEYS):
        options = {} if kind == "plain" else {"flow_key": f"k{key}"}
        queue.push_many({"mount": "/probe", "name": "act"}, [None] * (JOBS // KEYS), **options)
    queues.resume(name)
    left = QueuedJob.objects.unfinished().filter(queue__name=name)
    wait_until(lambda: not left.exists(), 600)
    runs = Run.objects.filter(job__queue__name=name).order_by("started_at")
    first = runs.values_list("started_at", flat=True).first()
    last = runs.order_by("-ended_at").values_list("ended_at", flat=True).first()
    return JOBS / (last - first).total_seconds()


def reservations(stage: Any) -> int:
    """Reserve beside few waiting jobs and beside very many; compare time and statements."""
    few = _reserved("few", FEW, FEW // 10)
    many = _reserved("many", WAITING, KEYS_WAITING)
    ratio = many[0] / few[0]
    figure = f"{few[0] * 1000:.2f} → {many[0] * 1000:.2f} ms"
    return told(
        f"16 jobs beside {WAITING:,} of {KEYS_WAITING:,} keys", figure, ratio <= 1.5, "1.5 times"
    ) + told("its statements", f"{few[1]:.1f} → {many[1]:.1f}", many[1] <= few[1] + 1, "as many")


def _reserved(name: str, jobs: int, keys: int) -> tuple[float, float]:
    """Return the median seconds and statements of a reservation; statements cost time to note."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    import queues
    from queues.runs.reservation import reserve
    from queues.runs.slots import acquire

    queues.create(name)
    queues.set_limits(name, [{"per": "key", "at_once": 1}])
    _filled(name, jobs, keys)
    slot = acquire(name, 0, "bench")
    seconds, statements = [], []
    for number in range(min(SAMPLES, jobs // 32)):
        slot.renew()  # a busy machine may take long over the samples
        noted = CaptureQueriesContext(connection) if number % 3 == 0 else None
        begun = time.perf_counter()
        with nullcontext() if noted is None else noted:
            batch = reserve(slot, 16)
        assert batch is not None and len(batch.jobs) == 16, name
        if noted is None:
            seconds.append(time.perf_counter() - begun)
        else:
            statements.append(len(noted))
        _ended([job.id for job in batch.jobs], slot)
    return statistics.median(seconds), statistics.median(statements)


def _ended(ids: list[int], slot: Any) -> None:
    """Let them be over, as if a worker had run them."""
    from django.db.models.functions import Now

    from queues.flow import flows
    from queues.models import QueuedJob

    rows = QueuedJob.objects.filter(pk__in=ids)
    of_flows = list(rows.values_list("flow_id", flat=True))
    rows.update(status="complete", slot=None, slot_epoch=None, ended_at=Now(), attempt=1)
    flows.wake(slot.queue_id, of_flows, ended=True)


def _filled(name: str, jobs: int, keys: int) -> None:
    """Insert waiting jobs of so many keys: copies of one that was pushed, by one statement."""
    from django.db import connection

    import queues
    from queues.logic.ranks import FLOW_RANKS
    from queues.models import Flow, Queue, QueuedJob

    queue = Queue.objects.get(name=name)
    one = queues.get(name).push({"mount": "/probe", "name": "act"}, None, flow_key="k0")
    middle = FLOW_RANKS[len(FLOW_RANKS) // 2]
    of_script: dict[str, Any] = {"queue": queue, "mount": "/probe", "script": "act"}
    made = [
        Flow(key=f"k{number}", rank=middle, time=number * 1e-9, **of_script)
        for number in range(1, keys)
    ]
    Flow.objects.bulk_create(made, 2000)
    new = {"id": f"n.i + {queue.pk * MOST_IDS}", "flow_id": "f.id", "flow_key": "f.key"}
    columns = [field.column for field in QueuedJob._meta.concrete_fields if not field.generated]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {jobs - 1})
            INSERT INTO queues_queuedjob ({", ".join(columns)})
            SELECT {", ".join(new.get(each, f"j.{each}") for each in columns)}
            FROM n CROSS JOIN queues_flow f CROSS JOIN queues_queuedjob j WHERE j.id = {one}
            AND f.queue_id = {queue.pk} AND f.key = 'k' || (n.i % {keys})"""
        )
        is_sqlite = connection.vendor == "sqlite"
        for each in ("ANALYZE", "PRAGMA wal_checkpoint") if is_sqlite else ("VACUUM ANALYZE",):
            cursor.execute(each)
