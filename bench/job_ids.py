"""Measure job ids beside other makers of ids: µs for one, by one and four threads, in a batch.

python-ulid and snowflake-id run in an environment of their own below var/bench, made on the
first run; their versions are printed. Every figure is a median of interleaved rounds. Then it
measures an id inside a transaction, and after a process has lost its number. The exit code is 1
when a bar is missed.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.parts.environments import python_of, versions_of

COUNT = 20_000
ROUNDS = 5
HERE = Path(__file__).parent
PACKAGES = ["python-ulid", "snowflake-id"]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            DJANGO_SETTINGS_MODULE="atributo_site.settings",
            ATRIBUTO_ENV="test",
            ATRIBUTO_VAR_DIR=folder,
            ATRIBUTO_LOG_LEVEL="WARNING",
            DATABASE_URL=f"sqlite:///{folder}/bench.sqlite3",
            REDIS_URL="unix:///nowhere",
        )
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        return 0 if all([*beside_peers(python_of_peers()), *in_trouble()]) else 1


def python_of_peers() -> str:
    python = python_of("job_ids", PACKAGES)
    print(versions_of(python, PACKAGES))
    return python


def beside_peers(python: str) -> list[bool]:
    ways: dict[str, Callable[[], float]] = {
        "ours": lambda: single(ours()),
        "uuid.uuid4": lambda: single(lambda: str(uuid.uuid4())),
        "python-ulid": lambda: peer(python, "ulid"),
        "snowflake-id": lambda: peer(python, "snowflake"),
        "ours, 4 threads": lambda: four_threads(ours()),
        "ours, batch": batch,
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            found[name].append(way())
    figures = {name: statistics.median(values) for name, values in found.items()}
    for name, value in figures.items():
        print(f"{name:24}{value:8.3f} µs for one id", flush=True)
    return [
        bar("python-ulid / ours", figures["python-ulid"] / figures["ours"], at_least=2),
        bar("ours / snowflake-id", figures["ours"] / figures["snowflake-id"], at_most=1.5),
        bar("ours, batch, ns", figures["ours, batch"] * 1000, at_most=150),
    ]


def in_trouble() -> list[bool]:
    inside, outside, lost = [], [], []
    for _ in range(ROUNDS):
        outside.append(single(ours()))
        inside.append(in_transaction())
        lost.append(after_batches_and_a_lost_number())
    ratio = statistics.median(inside) / statistics.median(outside)
    return [
        bar("inside / outside", ratio, at_most=1.5),
        bar("first after loss, ms", max(lost), at_most=250),
    ]


def bar(what: str, value: float, *, at_least: float = 0, at_most: float = float("inf")) -> bool:
    limit = f"at least {at_least:g}" if at_least else f"at most {at_most:g}"
    is_met = at_least <= value <= at_most
    verdict = "met" if is_met else "MISSED"
    print(f"{what:24}{value:8.2f}    bar {limit}: {verdict}", flush=True)
    return is_met


def ours() -> Callable[[], str]:
    """Measure ours with the longest lead, because a number has one id per millisecond."""
    from allocation.job_ids.ids import Generator

    made = Generator("auto", 1000, 10_000_000)
    made.get_job_id()
    return made.get_job_id


def peer(python: str, name: str) -> float:
    command = [python, str(HERE / "parts_of_job_ids" / "peer.py"), name]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def single(make: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(COUNT):
        make()
    return (time.perf_counter() - start) / COUNT * 1e6


def four_threads(make: Callable[[], str]) -> float:
    from django.db import connections

    def many(_: int) -> list[str]:
        try:
            return [make() for _ in range(COUNT)]
        finally:
            connections.close_all()

    start = time.perf_counter()
    with ThreadPoolExecutor(4) as threads:
        made = [job_id for part in threads.map(many, range(4)) for job_id in part]
    seconds = time.perf_counter() - start
    assert len(set(made)) == len(made), "a duplicate"
    return seconds / len(made) * 1e6


def batch() -> float:
    from allocation.job_ids.ids import Generator

    made = Generator("auto", 1000, 1000)
    made.get_job_id()
    start = time.perf_counter()
    made.get_job_ids(100_000)
    return (time.perf_counter() - start) / 100_000 * 1e6


def in_transaction() -> float:
    """Measure ids that a web thread or a script makes inside its caller's transaction."""
    from django.db.transaction import atomic

    with atomic():
        return single(ours())


def after_batches_and_a_lost_number() -> float:
    """Measure the next id, two minutes ahead of the clock and with the number taken away."""
    from allocation.job_ids.ids import Generator
    from allocation.models import IdNumber

    made = Generator("auto", 1000, 1000)
    for _ in range(12):
        made.get_job_ids(10_000)
    assert made.number is not None
    IdNumber.objects.filter(pk=made.number.number).update(holder="another", token=99)
    start = time.perf_counter()
    made.get_job_id()
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    sys.exit(main())
