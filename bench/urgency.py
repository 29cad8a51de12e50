"""Measure the waits of an idle queue beside a backlog, of a push as a job ends, of a callback.

    python -m bench.urgency sqlite     the other database; default settings, one worker
    BENCH_PUSHES=20                    a quick look

Each wait is start minus push, by the database. The exit code is 1 when a limit is missed.
"""

import os
import random
import sys
import time

from tests.queues.storm.stage import Stage
from tests.servers.waiting import wait_until

PUSHES = int(os.environ.get("BENCH_PUSHES", "60"))
LONG = {"sleep": 0.05}
# Share of the waits, and how many seconds it may take.
LIMITS = {
    "idle queue beside a backlog": (0.5, 0.15),
    "push as the job before ends": (0.99, 0.2),
    "callback beside 20 jobs": (0.5, 0.15),
}


def main() -> int:
    database = sys.argv[1] if sys.argv[1:] else "postgresql"
    with Stage(database, settings={}) as stage:
        stage.curator()
        stage.worker()
        print(f"{database}, default settings, one worker", flush=True)
        waits = [beside_a_backlog(), as_the_job_before_ends(), callbacks()]
        return max(tell(what, found) for what, found in zip(LIMITS, waits, strict=True))


def tell(what: str, seconds: list[float]) -> int:
    ordered = sorted(seconds)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    share, limit = LIMITS[what]
    missed = ordered[int(len(ordered) * share)] > limit
    figures = f"p50 {p50:.3f} s   p99 {p99:.3f} s   max {ordered[-1]:.3f} s"
    wanted = f"p{share * 100:.0f} at most {limit} s: {'MISSED' if missed else 'kept'}"
    print(f"  {what:32}{len(ordered):4} times   {figures}   {wanted}", flush=True)
    return int(missed)


def beside_a_backlog() -> list[float]:
    """Return the waits of urgent jobs in an idle queue while the worker is busy elsewhere."""
    import queues

    backlog, idle = queues.create("backlog"), queues.create("idle")
    backlog.push_many(act(), [LONG] * PUSHES * 10)
    wait_until(lambda: backlog.complete(), 60)
    ids: list[str] = []
    while len(ids) < PUSHES and backlog.pending():
        ids.append(idle.push(act(), priority=2))
        wait_until(lambda: idle.get(ids[-1]).status == "complete", 60)
        time.sleep(random.uniform(0, 0.3))
    abort(backlog)
    return [waited(job_id) for job_id in ids]


def as_the_job_before_ends() -> list[float]:
    import queues

    queue, ids = queues.create("quiet"), []
    for _ in range(PUSHES * 10):
        ids.append(queue.push(act()))
        while queue.get(ids[-1]).status != "complete":
            pass
        time.sleep(random.uniform(0, 0.003))
    return [waited(job_id) for job_id in ids]


def callbacks() -> list[float]:
    import queues
    from queues.models import QueuedJob

    queue = queues.create("called")
    called = {"mount": "/probe", "name": "act"}
    parents = []
    for _ in range(PUSHES // 4):
        parents.append(queue.push(act(), LONG, success=called))
        queue.push_many(act(), [LONG] * 20)
        done = QueuedJob.objects.filter(parent=int(parents[-1]), status="complete")
        wait_until(done.exists, 60)
        abort(queue)
    return [waited(job.pk) for job in QueuedJob.objects.filter(parent__in=map(int, parents))]


def act() -> dict[str, str]:
    return {"mount": "/probe", "name": "act"}


def abort(queue) -> None:
    from queues.jobs.bulk import apply

    apply("abort", [int(job_id) for job_id in queue.pending()])


def waited(job_id) -> float:
    from queues.models import QueuedJob

    job = QueuedJob.objects.get(pk=int(job_id))
    return (job.started_at - job.created_at).total_seconds()


if __name__ == "__main__":
    sys.exit(main())
