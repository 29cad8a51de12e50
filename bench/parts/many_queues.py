"""Measure many queues on the database of the environment: make, keep idle, drain, ask."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress

import django
import psutil

QUEUES = int(os.environ.get("BENCH_QUEUES", "1000"))
WAITING = int(os.environ.get("BENCH_WAITING", "400000"))
IDLE_SECONDS = float(os.environ.get("BENCH_IDLE", "60"))
JOBS_IN_EACH = 5
CHUNK = 5000
LONGEST_DRAIN_SECONDS = 180
NOOP = {"mount": "/bench", "name": "noop"}
MOST = {
    "1,000 queues made": 5.0,
    "idle curator, % of a core": 2.0,
    "a command, s": 1.0,
}
LEAST = {"drained/s": 1000.0}
COMMANDS = [
    ["queue", "list"],
    ["queue", "create", "q500", "--max-workers", "2"],
    ["queue", "pause", "q501"],
    ["queue", "resume", "q501"],
    ["queue", "pause", "large"],
    ["queue", "resume", "large"],
    ["queued_jobs", "list"],
    ["queued_jobs", "list", "--queue", "large"],
    ["queued_jobs", "list", "--status", "pending"],
    ["queued_jobs", "list", "--status", "failed"],
    ["queued_jobs", "list", "--queue", "q500", "--status", "pending"],
    ["queued_jobs", "list", "--queue", "large", "--status", "failed"],
    ["queued_jobs", "list", "--query", "queue:large"],
    ["queued_jobs", "list", "--query", "script:/bench/noop"],
    ["queued_jobs", "list", "--query", "boom"],
    ["queued_jobs", "list", "--repeating"],
    ["queued_jobs", "show", "JOB"],
    ["queued_jobs", "run-now", "JOB"],
    ["queued_jobs", "abort", "JOB"],
    ["push", "large", "/bench", "noop"],
    ["operations", "list"],
    ["service", "list"],
    ["doctor"],
]


def main() -> int:
    django.setup()
    from django.core.management import call_command

    from queues.services import installation

    call_command("migrate", verbosity=0)
    installation.install("bench_service", "/bench", setup=False)
    judged = [*making(), *idling(), *draining(), *asking()]
    return 0 if all(judged) else 1


def making() -> list[bool]:
    import queues

    begun = time.perf_counter()
    for number in range(QUEUES):
        queues.create(f"q{number}")
    return [tell("1,000 queues made", (time.perf_counter() - begun) * 1000 / QUEUES)]


def idling() -> list[bool]:
    with running("run_curator") as curator:
        time.sleep(5.0)  # its start
        before = cpu(curator)
        time.sleep(IDLE_SECONDS)
        share = (cpu(curator) - before) / IDLE_SECONDS * 100
    return [tell("idle curator, % of a core", share)]


def draining() -> list[bool]:
    import queues
    from queues.models import QueuedJob

    for number in range(QUEUES):
        queues.get(f"q{number}").push_many(NOOP, [None] * JOBS_IN_EACH)
    left = QueuedJob.objects.unfinished()
    jobs = left.count()
    with running("run_curator"), running("worker") as worker:
        wait_until(lambda: left.count() < jobs)
        begun, first, spent = time.perf_counter(), left.count(), cpu(worker)
        wait_until(lambda: left.count() == 0)
        seconds, spent = time.perf_counter() - begun, cpu(worker) - spent
    print(f"    {spent / first * 1000:.2f} s of a core for each 1,000, {left.count()} left")
    return [tell("drained/s", first / seconds)]


def asking() -> list[bool]:
    """Time each command from its first statement to its last word, without Python's start."""
    import queues

    large = queues.create("large")
    for begin in range(0, WAITING, CHUNK):
        ids = large.push_many(NOOP, [None] * min(CHUNK, WAITING - begin))
    taken = [(timed(words, ids.pop(0)), words) for words in COMMANDS]
    taken.append((paging(large), ["two pages of queue.pending()"]))
    for seconds, words in sorted(taken, reverse=True)[:5]:
        print(f"    {seconds:8.3f} s  {' '.join(words)}")
    return [tell("a command, s", max(taken)[0])]


def timed(words: list[str], job_id: str) -> float:
    from django.core.management import call_command

    begun = time.perf_counter()
    with suppress(SystemExit):
        call_command(
            words[0],
            *(word.replace("JOB", job_id) for word in words[1:]),
            stdout=io.StringIO(),
            stderr=io.StringIO(),
        )
    return time.perf_counter() - begun


def paging(large) -> float:
    begun = time.perf_counter()
    page = large.pending(limit=100)
    large.pending(limit=100, after=page[-1])
    return time.perf_counter() - begun


@contextmanager
def running(*words: str):
    process = subprocess.Popen([sys.executable, "manage.py", *words])
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def cpu(process: psutil.Process) -> float:
    """Return the seconds of a core that it and its children have used."""
    family = [process, *process.children(recursive=True)]
    return sum(sum(each.cpu_times()[:2]) for each in family)


def wait_until(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + LONGEST_DRAIN_SECONDS
    while not condition():
        if time.monotonic() > give_up:
            print("    it did not finish", flush=True)
            return
        time.sleep(0.05)


def tell(what: str, figure: float) -> bool:
    """Print a figure with its bar; return whether it keeps it."""
    bar = MOST.get(what) or LEAST[what]
    kept = figure <= bar if what in MOST else figure >= bar
    sign = "at most" if what in MOST else "at least"
    print(f"{what:28}{figure:12,.2f}   {sign} {bar:,g}{'' if kept else '   MISSED'}", flush=True)
    return kept


if __name__ == "__main__":
    sys.exit(main())
