"""Job ids beside other makers of ids: µs for one, by one thread and by four, and in a batch.

python-ulid and snowflake-id are measured when they are installed; uuid4 always.
"""

import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

COUNT = 20_000
ROUNDS = 5


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
        measure()
    return 0


def measure() -> None:
    ways = {"ours": ours(), "uuid.uuid4": lambda: str(uuid.uuid4()), **peers()}
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, make in ways.items():
            found[name].append(single(make))
    for name, values in found.items():
        print(f"{name:24}{statistics.median(values):8.2f} µs for one id", flush=True)
    print(f"{'ours, 4 threads':24}{four_threads(ours()):8.2f} µs for one id, no duplicate")
    print(f"{'ours, batch':24}{batch() * 1000:8.0f} ns for one id of 100,000")


def ours() -> Callable[[], str]:
    """With the longest lead, because one number has one id per millisecond and then waits."""
    from allocation.job_ids import Generator

    return Generator("auto", 1000, 10_000_000).get_job_id


def peers() -> dict[str, Callable[[], object]]:
    found: dict[str, Callable[[], object]] = {}
    try:
        from ulid import ULID

        found["python-ulid"] = lambda: str(ULID())
    except ImportError:
        print("python-ulid is not installed")
    try:
        from snowflake import SnowflakeGenerator

        made = SnowflakeGenerator(1)
        found["snowflake-id"] = lambda: next(made)
    except ImportError:
        print("snowflake-id is not installed")
    return found


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
    from allocation.job_ids import Generator

    made = Generator("auto", 1000, 1000)
    made.get_job_id()
    start = time.perf_counter()
    made.get_job_ids(100_000)
    return (time.perf_counter() - start) / 100_000 * 1e6


if __name__ == "__main__":
    sys.exit(main())
