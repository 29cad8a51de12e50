"""Measure one database: `python -m bench.parts.placement_limit FOLDER` with DATABASE_URL set."""

import os
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable

import django
import psycopg

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
django.setup()

from django.db import connection  # noqa: E402

from allocation.atributo import Atributo  # noqa: E402
from bench.parts.allocation import job, set_our_instances  # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "15"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "0.3"))
BATCH = 1000
MANY = 10_000
CHOICES = int(os.environ.get("BENCH_CHOICES", "200"))
LEAST_OF_ONE, LEAST_OF_MANY, MOST_CHOICE_MS = 0.6, 0.9, 1.0
IS_POSTGRES = connection.vendor == "postgresql"
Insert = Callable[[list[str]], object]
PLACE = "INSERT INTO bare VALUES ({}, 'instance1')"


def bare(folder: str) -> tuple[Insert, Insert]:
    """Return one prepared INSERT, and a transaction of many of them."""
    if not IS_POSTGRES:
        lite = sqlite3.connect(f"{folder}/bare.sqlite3", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            lite.execute(f"PRAGMA {pragma}")
        lite.execute("CREATE TABLE bare (job TEXT PRIMARY KEY, instance TEXT)")
        return (
            lambda job_ids: lite.execute(PLACE.format("?"), job_ids),
            lambda job_ids: _together(lite, job_ids),
        )
    raw = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    raw.execute("CREATE TABLE bare (job varchar PRIMARY KEY, instance varchar)")
    raw.execute(f"PREPARE bare (varchar) AS {PLACE.format('$1')}")
    return (
        lambda job_ids: raw.pgconn.exec_prepared(b"bare", [job_ids[0].encode()]),
        lambda job_ids: _in_transaction(raw, job_ids),
    )


def _together(lite: sqlite3.Connection, job_ids: list[str]) -> None:
    lite.execute("BEGIN IMMEDIATE")
    lite.executemany(PLACE.format("?"), [(job_id,) for job_id in job_ids])
    lite.execute("COMMIT")


def _in_transaction(raw: psycopg.Connection, job_ids: list[str]) -> None:
    with raw.transaction(), raw.cursor() as cursor:
        cursor.executemany(PLACE.format("%s"), [(job_id,) for job_id in job_ids])


def rate(act: Insert, size: int) -> float:
    """Return job ids per second, measured for about SECONDS."""
    count, begun = 0, time.perf_counter()
    while time.perf_counter() < begun + SECONDS:
        act([job() for _ in range(size)])
        count += size
    return count / (time.perf_counter() - begun)


def compared(what: str, ours: Insert, limit: Insert, size: int, bar: float) -> bool:
    """Take turns, so that a slow second slows both."""
    pairs = [(rate(ours, size), rate(limit, size)) for _ in range(ROUNDS)]
    own, bare_rate = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(mine / theirs for mine, theirs in pairs)
    print(f"  {what:34}{own:>10,.0f}/s of {bare_rate:>9,.0f}/s: {ratio:.0%}", end="")
    return verdict(ratio >= bar, f"at least {bar:.0%}")


def choice(strategy: str, batch: int) -> bool:
    """Compare with the strategy that looks at one instance: the rest is that of any placement."""
    milliseconds = processor_ms(strategy, batch) - processor_ms("md5-modulo", batch)
    how = f"allocate_many({batch})" if batch > 1 else "allocate"
    print(f"  {strategy} among {MANY:,}, {how:20}{milliseconds:>8.2f} ms of the processor", end="")
    return verdict(milliseconds <= MOST_CHOICE_MS, f"at most {MOST_CHOICE_MS:g} ms")


def processor_ms(strategy: str, batch: int) -> float:
    """Return this process's processor time for one placement."""
    ao = Atributo(strategy=strategy)
    ao.allocate(job())
    begun, count = time.process_time(), 0
    while count < CHOICES:
        count += len(ao.allocate_many([job() for _ in range(batch)])) if batch > 1 else _one(ao)
    return (time.process_time() - begun) * 1000 / count


def _one(ao: Atributo) -> int:
    ao.allocate(job())
    return 1


def verdict(met: bool, bar: str) -> bool:
    print(f"   bar {bar}: {'met' if met else 'MISSED'}", flush=True)
    return met


def main(folder: str) -> int:
    print(connection.vendor, flush=True)
    if not IS_POSTGRES:
        connection.ensure_connection()
        connection.connection.execute("PRAGMA synchronous = FULL")
    set_our_instances(2)
    ao, (one, many) = Atributo(), bare(folder)
    met = [
        compared("allocate, one client", lambda ids: ao.allocate(ids[0]), one, 1, LEAST_OF_ONE),
        compared(f"allocate_many of {BATCH:,}", ao.allocate_many, many, BATCH, LEAST_OF_MANY),
    ]
    set_our_instances(MANY)
    for strategy in ("rendezvous", "least-loaded"):
        met += [choice(strategy, 1), choice(strategy, 500)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
