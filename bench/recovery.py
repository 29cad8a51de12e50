"""Measure how soon work goes on after a kill, and how late delayed jobs start.

    python -m bench.recovery sqlite     the other database; default settings, two workers
    BENCH_KILLS=5                       a quick look

A kill is -9 of the worker that runs a job, or of its whole family; the figure is the time until
the job runs again. Lateness is start minus due time of 200 delayed jobs; then once more with
the curator killed when the first of them is due.
"""

import os
import signal
import sys
import time

from tests.queues.storm.stage import Stage
from tests.servers.waiting import wait_until

KILLS = int(os.environ.get("BENCH_KILLS", "12"))
DELAYED = 200
SPREAD_MS = 8000


def main() -> None:
    database = sys.argv[1] if sys.argv[1:] else "postgresql"
    with Stage(database, settings={}) as stage:
        curator = stage.curator()
        workers = {f"w{number}": stage.worker() for number in (1, 2)}
        print(f"{database}, default settings, two workers", flush=True)
        tell("back to running after a kill", kills(stage, workers))
        tell("late, delayed jobs", lateness())
        tell("late, curator killed", lateness(at_first_due=lambda: curator.send_signal(9)))


def tell(what: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    p50, p95, p99 = (ordered[int(len(ordered) * part)] for part in (0.5, 0.95, 0.99))
    figures = f"p50 {p50:.2f} s   p95 {p95:.2f} s   p99 {p99:.2f} s   max {ordered[-1]:.2f} s"
    print(f"  {what:32}{len(ordered):4} times   {figures}", flush=True)


def kills(stage, workers) -> list[float]:
    import queues
    from queues.models import Run

    queue = queues.create("killed", 1)
    found = []
    for number in range(KILLS):
        job = queue.push({"mount": "/probe", "name": "act"}, {"sleep": 300})
        runs = Run.objects.filter(job_id=int(job), outcome="running")
        wait_until(runs.exists, 60)
        name = runs.get().worker
        family = stage.children_of(workers[name]) if number % 2 else []
        begun = time.monotonic()
        workers.pop(name).send_signal(signal.SIGKILL)
        for child in family:
            child.kill()
        wait_until(runs.filter(attempt=2).exists, 60)
        found.append(time.monotonic() - begun)
        queue.get(job).abort()
        worker = stage.worker()
        workers[worker.arguments[-1]] = worker
    return found


def lateness(at_first_due=lambda: None) -> list[float]:
    import queues
    from queues.models import QueuedJob, Run

    queue = queues.create("delayed", 2)
    script = {"mount": "/probe", "name": "act"}
    for number in range(DELAYED):
        queue.push(script, delay=2000 + number * SPREAD_MS // DELAYED)
    first = QueuedJob.objects.filter(queue__name="delayed", status="pending").order_by("due_at")
    ids = list(first.values_list("pk", flat=True))
    dues = dict(first.values_list("pk", "due_at"))
    time.sleep(2)
    at_first_due()
    ended = QueuedJob.objects.filter(pk__in=ids, status="complete")
    wait_until(lambda: ended.count() == DELAYED, 90)
    starts = Run.objects.filter(job_id__in=ids).values_list("job_id", "started_at")
    return [(started - dues[job]).total_seconds() for job, started in starts]


if __name__ == "__main__":
    main()
