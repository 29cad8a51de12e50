"""Measure one database: `python -m bench.parts.drains` with DATABASE_URL set."""

import multiprocessing
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
django.setup()

from django.db import connection, connections  # noqa: E402

from allocation.atributo import Atributo  # noqa: E402
from allocation.instances import availability  # noqa: E402
from allocation.models import Drain  # noqa: E402
from allocation.placement import drains, rebalance  # noqa: E402
from atributo_site.core.models import Event  # noqa: E402

JOBS = int(os.environ.get("BENCH_JOBS", "100000"))
LONGEST_SECONDS = 30.0 * JOBS / 100_000
LONGEST_MS = 250.0
GIVE_UP_SECONDS = 400.0
PER_SECOND = 100


def main() -> int:
    print(f"{connection.vendor}: {JOBS:,} job ids beside one allocator", flush=True)
    fill("old")
    with a_curator() as curator:
        verdicts = [measured("forced drain", a_drain, curator)]
        verdicts.append(measured("rebalance", a_rebalance, curator))
    verdicts.append(measured("removal", a_removal, os.getpid()))
    return 0 if all(verdicts) else 1


def fill(instance_id: str) -> None:
    ao = Atributo()
    ao.available(instance_id)
    for start in range(0, JOBS, 5_000):
        ao.allocate_many(f"{instance_id}-{number:07}" for number in range(start, start + 5_000))
    ao.available("new")


def a_drain() -> int:
    drains.drain("old", deadline_seconds=0)
    wait_until(lambda: not Drain.objects.running().exists())
    return Drain.objects.get().moved


def a_rebalance() -> int:
    """Spread them over eight instances that came later."""
    for number in range(8):
        Atributo().available(f"spread{number}")
    rebalance.start(moves_per_minute=1_000_000)
    wait_until(lambda: not rebalance.last().is_running)
    return rebalance.last().moved


def a_removal() -> int:
    return sum(availability.remove(instance_id) for instance_id in ("new", "spread1", "spread2"))


@contextmanager
def a_curator():
    process = subprocess.Popen([sys.executable, "manage.py", "run_curator"])
    try:
        wait_until(Event.objects.filter(kind="curator.active").exists)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(what: str, act, pid: int) -> bool:
    """Act while another process allocates; return whether both were fast enough."""
    context = multiprocessing.get_context("spawn")
    over, answers = context.Event(), context.Queue()
    beside = context.Process(target=allocate_until, args=(over, answers), daemon=True)
    beside.start()
    answers.get()
    begun, used = time.monotonic(), processor_seconds(pid)
    jobs = act()
    seconds, used = time.monotonic() - begun, processor_seconds(pid) - used
    over.set()
    times = answers.get()
    beside.join()
    slowest_at = times.index(max(times)) / PER_SECOND
    times.sort()
    p50, p99 = (times[int(len(times) * part)] * 1000 for part in (0.5, 0.99))
    met = used <= LONGEST_SECONDS and p99 <= LONGEST_MS
    print(
        f"  {what:13}{jobs:>8,} job ids in {seconds:5.1f} s, {used:.1f} s of the processor", end=""
    )
    print(f"   {len(times):,} allocations: p50 {p50:.1f} ms, p99 {p99:.1f} ms", end="")
    slowest = f"slowest {times[-1] * 1000:.0f} ms after {slowest_at:.1f} s"
    print(f", {slowest}   {'met' if met else 'MISSED'}", flush=True)
    return met


def allocate_until(over, answers) -> None:
    """Allocate at a pace; the time of each counts from when it was due."""
    connections.close_all()
    ao, times = Atributo(), []
    ao.allocate("warm")
    answers.put("ready")
    begun = time.perf_counter()
    while not over.is_set():
        due = begun + len(times) / PER_SECOND
        time.sleep(max(0.0, due - time.perf_counter()))
        ao.allocate(f"beside-{os.getpid()}-{len(times)}")
        times.append(time.perf_counter() - due)
    answers.put(times)


def wait_until(holds) -> None:
    end = time.monotonic() + GIVE_UP_SECONDS
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"  it has not ended after {GIVE_UP_SECONDS:.0f} s")
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
