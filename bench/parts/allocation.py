"""Measure one database: `python -m bench.parts.allocation SEED_DATABASE` with DATABASE_URL set."""

import multiprocessing
import os
import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import django
import psycopg

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
django.setup()

from django.db import connection, connections  # noqa: E402

from allocation.atributo import Atributo  # noqa: E402
from allocation.instances import roster  # noqa: E402
from allocation.logic.choose import COUNTS_LOAD  # noqa: E402
from allocation.models import Allocation, Instance, InstanceLoad  # noqa: E402
from allocation.storage import store  # noqa: E402
from allocation.storage.locks import roster_lock  # noqa: E402
from bench.parts.seed import SeedOnPostgres, SeedOnSqlite, make_tables, set_instances  # noqa: E402

# Many short turns: a machine that is slow for a second or two then slows both sides alike.
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "25"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "0.2"))
WINDOW_SECONDS = 3.0
MOST_ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
ONLY_GROWTH = os.environ.get("BENCH_ONLY") == "growth"
IS_POSTGRES = connection.vendor == "postgresql"
SHARE = 125
Allocate = Callable[[str], object]


def job() -> str:
    return f"{random.getrandbits(64):016x}"


def rate(allocate: Allocate, jobs: Callable[[], str] = job) -> float:
    """Return the calls per second, measured for about SECONDS."""
    end, count, start = time.perf_counter() + SECONDS, 0, time.perf_counter()
    while time.perf_counter() < end:
        allocate(jobs())
        count += 1
    return count / (time.perf_counter() - start)


def interleaved(**ways: Callable[[], float]) -> dict[str, float]:
    """Run each way once per round, and return the medians."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, measure in ways.items():
            found[name].append(measure())
    return {name: statistics.median(values) for name, values in found.items()}


def report(what: str, seed: float, ours: float, bar: float | None) -> None:
    ratio = ours / seed
    verdict = "" if bar is None else f"  bar {bar:g}: {'met' if ratio >= bar else 'MISSED'}"
    print(f"{what:44}{seed:>10,.0f}{ours:>12,.0f}{ratio:>8.1f} x{verdict}", flush=True)


def empty_our_tables() -> None:
    if IS_POSTGRES:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE allocation_instance CASCADE")
        return
    for model in (Allocation, InstanceLoad, Instance):
        model.objects.all().delete()


def set_our_instances(count: int) -> None:
    with roster_lock():
        empty_our_tables()
        rows = [Instance(pk=f"instance{n}", available=True, epoch=1) for n in range(count)]
        Instance.objects.bulk_create(rows, batch_size=500)
        store().make_counters([row.pk for row in rows])
        roster.next_epoch("default")
        roster.announce("default")


def client(make: Callable[[], Any], ready, answers, share: int | None) -> None:
    """Make so many allocations, or as many as fit into the window."""
    connections.close_all()
    party, times = make(), []
    party.allocate("warm" + job())
    ready.wait()
    begun = time.perf_counter()
    end = begun + (WINDOW_SECONDS if share is None else float("inf"))
    while len(times) != share and time.perf_counter() < end:
        start = time.perf_counter()
        party.allocate(job())
        times.append(time.perf_counter() - start)
    answers.put((times, getattr(party, "conflicts", 0), time.perf_counter() - begun))


def operator() -> float:
    """Return the 95th percentile of `unavailable` in milliseconds while others allocate."""
    ao, times = Atributo(), []
    end = time.perf_counter() + WINDOW_SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        ao.unavailable("instance1")
        times.append(time.perf_counter() - start)
        ao.available("instance1")
        time.sleep(0.02)
    return sorted(times)[int(len(times) * 0.95)] * 1000


class Together(NamedTuple):
    """Allocations per second, 99th percentile in ms and conflicts of many clients."""

    rate: float
    p99: float
    conflicts: int


def many_clients(
    make: Callable[[], Any],
    count: int = 8,
    beside: Callable[[], None] = lambda: None,
    share: int | None = None,
) -> Together:
    connections.close_all()
    ready = multiprocessing.Barrier(count)
    answers: Any = multiprocessing.Queue()
    started = [
        multiprocessing.Process(target=client, args=(make, ready, answers, share))
        for _ in range(count)
    ]
    for process in started:
        process.start()
    beside()
    found = [answers.get() for _ in started]
    for process in started:
        process.join()
    times = sorted(each for part, _, _ in found for each in part)
    conflicts = sum(each for _, each, _ in found)
    seconds = max(seconds for _, _, seconds in found)
    return Together(len(times) / seconds, times[int(len(times) * 0.99)] * 1000, conflicts)


def eight_clients(seed: Any, make_seed: Callable[[], Any]) -> None:
    """Place 1,000 jobs of 8 clients from fresh tables; then measure for some seconds.

    A client of the original that meets a conflict waits, and so does a caller that needs all jobs.
    In a window of time the others go on meanwhile, alone and without conflicts.
    """
    found: dict[str, list[Together]] = {"seed": [], "ours": []}
    for _ in range(min(ROUNDS, 5)):
        make_tables(seed)
        set_instances(seed, 2)
        set_our_instances(2)
        found["seed"].append(many_clients(make_seed, share=SHARE))
        found["ours"].append(many_clients(Atributo, share=SHARE))
    bar = 25 if IS_POSTGRES else None
    report_clients(f"8 clients, {SHARE} each, fresh tables", found, bar)
    found = {"seed": [many_clients(make_seed)], "ours": [many_clients(Atributo)]}
    report_clients(f"8 clients, for {WINDOW_SECONDS:g} s, grown tables", found, None)


def report_clients(what: str, found: dict[str, list[Together]], bar: float | None) -> None:
    seed, ours = (sorted(rounds)[len(rounds) // 2] for rounds in found.values())
    report(what, seed.rate, ours.rate, bar)
    verdict = f"  bar 20: {'met' if ours.p99 <= 20 else 'MISSED'}" if bar else ""
    print(f"{'  99th percentile, ms':44}{seed.p99:>10,.1f}{ours.p99:>12,.1f}{verdict}")
    print(f"{'  conflicts, each a wait of 1 s':44}{seed.conflicts:>10,}{ours.conflicts:>12,}")


def bare_insert(seed_database: str) -> Callable[[str], object]:
    """Return one prepared INSERT of a key and a value: the limit of this disk and durability."""
    if IS_POSTGRES:
        raw = psycopg.connect(seed_database, autocommit=True)
        raw.execute("CREATE TABLE bare (job varchar PRIMARY KEY, instance varchar)")
        raw.execute("PREPARE bare (varchar) AS INSERT INTO bare VALUES ($1, 'instance1')")
        return lambda job_id: raw.pgconn.exec_prepared(b"bare", [job_id.encode()])
    lite = sqlite3.connect(f"{seed_database}.bare", isolation_level=None)
    lite.execute("PRAGMA journal_mode = WAL")
    lite.execute("PRAGMA synchronous = FULL")
    lite.execute("CREATE TABLE bare (job TEXT PRIMARY KEY, instance TEXT)")
    return lambda job_id: lite.execute("INSERT INTO bare VALUES (?, 'instance1')", (job_id,))


SERIES = {
    "postgresql": "SELECT n FROM generate_series(1, {rows}) AS n",
    "sqlite": "WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < {rows})"
    " SELECT n FROM g",
}
FILL = """
INSERT INTO allocation_allocation
    (job_id, instance_id, epoch, allocated_at, strategy, candidates, actor, channel)
SELECT 'fill' || n, 'instance' || (n - n / 2 * 2), n, CURRENT_TIMESTAMP, 'md5-modulo', 2,
    'bench', 'process'
FROM ({series}) AS s
"""


def fill(rows: int) -> None:
    """Let the database itself make so many allocations, without checking each."""
    series = SERIES[connection.vendor].format(rows=rows)
    with connection.cursor() as cursor:
        if IS_POSTGRES:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute("SET session_replication_role = replica")
        cursor.execute(FILL.format(series=series))
        if IS_POSTGRES:
            cursor.execute("SET session_replication_role = origin")
        cursor.execute("ANALYZE allocation_allocation")


def main(seed_database: str) -> None:
    kind = SeedOnPostgres if IS_POSTGRES else SeedOnSqlite
    seed, ao = kind(seed_database), Atributo()
    make_tables(seed)
    if ONLY_GROWTH:
        print()
        return growth(ao)
    print(f"\n{'new allocations per second':44}{'original':>10}{'ours':>12}")
    if not IS_POSTGRES:
        connection.ensure_connection()
        connection.connection.execute("PRAGMA synchronous = FULL")
    set_instances(seed, 2)
    set_our_instances(2)
    bare = bare_insert(seed_database)
    both = interleaved(
        seed=lambda: rate(seed.allocate), ours=lambda: rate(ao.allocate), bare=lambda: rate(bare)
    )
    ceiling = both.pop("bare")
    report("2 instances, 1 connection, equal durability", **both, bar=2.5 if IS_POSTGRES else 6)
    report("  ceiling: one bare INSERT, same durability", both["seed"], ceiling, None)
    batch = statistics.median(batch_rate(ao) for _ in range(ROUNDS))
    report("allocate_many of 1,000", both["seed"], batch, 30 if IS_POSTGRES else 100)
    seed.allocate("known"), ao.allocate("known")
    known = interleaved(
        seed=lambda: rate(seed.allocate, lambda: "known"),
        ours=lambda: rate(ao.allocate, lambda: "known"),
    )
    report("allocated already", **known, bar=2 if IS_POSTGRES else None)
    if not IS_POSTGRES:
        connection.connection.execute("PRAGMA synchronous = NORMAL")
        report("as installed (WAL, synchronous NORMAL)", both["seed"], rate(ao.allocate), None)
    eight_clients(seed, lambda: kind(seed_database))
    found: list[float] = []
    many_clients(Atributo, 50, lambda: found.append(operator()))
    print(f"{'unavailable beside 50 clients, 95 %, ms':44}{'':>10}{found[0]:>12,.1f}")
    set_instances(seed, 10_000)
    set_our_instances(10_000)
    many = interleaved(seed=lambda: rate(seed.allocate), ours=lambda: rate(ao.allocate))
    report("10,000 instances", **many, bar=12 if IS_POSTGRES else 50)
    growth(ao)


def batch_rate(ao: Atributo) -> float:
    jobs = [job() for _ in range(1000)]
    start = time.perf_counter()
    ao.allocate_many(jobs)
    return 1000 / (time.perf_counter() - start)


def growth(ao: Atributo) -> None:
    """Measure one allocation with more and more rows in the table."""
    print(f"\n{'ours, µs for one allocation':44}")
    rows = 1000
    while rows <= MOST_ROWS:
        set_our_instances(2)
        fill(rows)
        found = statistics.median(rate(ao.allocate) for _ in range(ROUNDS))
        print(f"{rows:>12,} rows before, 2 instances{1e6 / found:>16,.0f}", flush=True)
        rows *= 1000 if rows * 1000 <= MOST_ROWS else 10
    for instances in (2, 100, 10_000):
        set_our_instances(instances)
        found = statistics.median(rate(ao.allocate) for _ in range(ROUNDS))
        print(f"{instances:>12,} instances{1e6 / found:>30,.0f}", flush=True)
    for strategy in sorted(COUNTS_LOAD):  # they look at every instance
        ao = Atributo(strategy=strategy)
        found = statistics.median(rate(ao.allocate) for _ in range(ROUNDS))
        print(f"{'':>12} the same by {strategy:20}{1e6 / found:>15,.0f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
