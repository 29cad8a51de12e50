"""Measure pages and dispatch beside 1,000,000 finished and 100,000 waiting jobs.

    python -m bench.job_history               both databases
    python -m bench.job_history sqlite        one of them
    BENCH_FINISHED=10000 BENCH_WAITING=1000   a quick look

The first byte of each page is the median of five requests; beside it the slowest statement.
Dispatch is one claim and one record of ten jobs, before and after the rows were there.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FINISHED = int(os.environ.get("BENCH_FINISHED", "1000000"))
WAITING = int(os.environ.get("BENCH_WAITING", "100000"))
BAR_MS = 200
PAGES = [
    "/",
    "/jobs/",
    "/jobs/?state=waiting",
    "/jobs/?state=paused",
    "/jobs/?state=paused&q=script:/bench/noop",
    "/jobs/?state=complete",
    "/jobs/?state=failed",
    "/jobs/?q=queue:history",
    "/jobs/?q=script:/bench/noop",
    "/jobs/?q=boom",
    "/jobs/{job}/",
    "/queues/",
    "/queues/history/",
    "/api/v1/snapshot",
    "/api/v1/queues",
    "/api/v1/queues/history/jobs",
]


def main() -> None:
    from tests.servers.postgres.server import PostgresCluster
    from tests.servers.valkey import ValkeyServer

    with tempfile.TemporaryDirectory() as folder, ValkeyServer() as valkey, PostgresCluster() as pg:
        urls = {"PostgreSQL": pg.url(), "SQLite": f"sqlite:///{folder}/db.sqlite3"}
        for name, url in urls.items():
            if sys.argv[1:] not in ([], [name.lower()]):
                continue
            print(f"{name}: {FINISHED:,} finished jobs, {WAITING:,} waiting", flush=True)
            env = {
                **os.environ,
                "DATABASE_URL": url,
                "REDIS_URL": valkey.url,
                "ATRIBUTO_ENV": "test",
                "ATRIBUTO_LOG_LEVEL": "ERROR",
                "ATRIBUTO_VAR_DIR": folder,
                "ATRIBUTO_SERVICE_ROOTS": str(ROOT / "bench" / "parts_of_queues"),
                "DJANGO_SETTINGS_MODULE": "atributo_site.settings",
            }
            words = [sys.executable, "-m", "bench.job_history", "measure"]
            subprocess.run(words, cwd=ROOT, env=env, check=True)


def measure() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    import queues
    from queues.services import installation

    call_command("migrate", verbosity=0)
    installation.install("bench_service", "/bench", setup=False)
    queues.create("history", 1)
    before = dispatch()
    begun = time.perf_counter()
    fill()
    print(f"  filled in {time.perf_counter() - begun:.0f} s", flush=True)
    after = dispatch()
    print("  claim and record of ten, median (best): ", end="")
    print("{:.2f} ms ({:.2f}) empty, {:.2f} ms ({:.2f}) full".format(*before, *after))
    tell_plans()
    tell_pages()


def fill() -> None:
    from django.db import connection

    from queues.models import Queue

    queue = Queue.objects.get(name="history").pk
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET statement_timeout = 0")
        for statement in statements(connection.vendor, queue):
            cursor.execute(statement)
        cursor.execute("ANALYZE")


def statements(vendor: str, queue: int) -> list[str]:
    """Return the statements that fill the tables; every hundredth job failed, in one of 20 ways."""
    postgresql = vendor == "postgresql"
    numbers = "generate_series(1, {n}) AS s(n)" if postgresql else "s"
    many = "" if postgresql else "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s "
    limit = "" if postgresql else "WHERE n < {n}) "
    moment = (
        "now() - make_interval(secs => {n} - n)"
        if postgresql
        else "strftime('%Y-%m-%d %H:%M:%f', 'now', '-' || ({n} - n) || ' seconds')"
    )
    no, empty = ("FALSE", "'0'::jsonb") if postgresql else ("0", "'0'")
    columns = (
        "id, queue_id, mount, script, status, rank, due_at, created_at, pushed_by, attempt, runs, "
        "run_failures, lost, max_failures, repeat_times, repeat_delay_ms, back_off, suspect, "
        "started_at, ended_at, error, fingerprint"
    )
    shared = f"'bench', 1, 1, 0, 0, 0, 0, 0, {empty}, {no}"
    finished = (
        f"{many}{limit}SELECT 2026000000000000 + n, {queue}, '/bench', 'noop', "
        "CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'complete' END, 0, "
        f"{moment}, {moment}, {shared}, {moment}, {moment}, "
        "CASE WHEN n % 100 = 0 THEN 'ValueError: boom' ELSE '' END, "
        "CASE WHEN n % 100 = 0 THEN 'way' || (n / 100) % 20 ELSE '' END FROM " + numbers
    ).format(n=FINISHED)
    waiting = (
        f"{many}{limit}SELECT 2026100000000000 + n, {queue}, '/bench', 'noop', 'pending', 0, "
        f"{moment}, {moment}, {shared}, NULL, NULL, '', '' FROM " + numbers
    ).format(n=WAITING)
    runs = (
        "INSERT INTO queues_run (job_id, attempt, number, worker, outcome, started_at, ended_at, "
        "error, traceback, note) SELECT id, 1, 1, 'w', status, started_at, ended_at, error, '', '' "
        "FROM queues_queuedjob WHERE status <> 'pending' AND pushed_by = 'bench'"
    )
    into = f"INSERT INTO queues_queuedjob ({columns}) "
    return [into + finished, into + waiting, runs]


def dispatch() -> tuple[float, float]:
    """Return the median and the best of 50, in milliseconds."""
    import queues
    from queues.logic.lifecycle import Outcome
    from queues.runs.outcome_rows import AttemptResult
    from queues.runs.outcomes import record
    from queues.runs.reservation import reserve
    from queues.runs.slots import acquire

    queues.get("history").push_many({"mount": "/bench", "name": "noop"}, [None] * 600)
    slot = acquire("history", 0, "bench")
    taken = []
    for _ in range(55):
        slot.renew()
        begun = time.perf_counter()
        batch = reserve(slot, 10)
        record(
            slot,
            [AttemptResult(j, Outcome.COMPLETE, batch.now, batch.now) for j in batch.jobs],
            "b",
        )
        taken.append(time.perf_counter() - begun)
    slot.release()
    return statistics.median(taken[5:]) * 1000, min(taken[5:]) * 1000


def tell_plans() -> None:
    """Print whether finding work reads more than an index."""
    from django.db import connection

    from atributo_site.core.database import dialect
    from queues.models import Queue
    from queues.sql import reserve, work

    d, queue = dialect(), str(Queue.objects.get(name="history").pk)
    word = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    asked = {"has_due": f"SELECT 1 WHERE {reserve.has_due(d, queue)}"}
    asked["free_slots"] = work.free_slots(d)
    for name, statement in asked.items():
        with connection.cursor() as cursor:
            cursor.execute(f"{word} {statement}", [])
            lines = [str(row[-1]) for row in cursor.fetchall()]
        scans = [line for line in lines if "Seq Scan on queues_queuedj" in line or _scanned(line)]
        print(f"  {name:32}{'READS EVERYTHING' if scans else 'by index'}")


def _scanned(line: str) -> bool:
    return line.startswith("SCAN queues_queuedjob") and "INDEX" not in line


def tell_pages() -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("bench"))
    for page in PAGES:
        path = page.format(job=2026000000000000 + FINISHED // 2)
        first, slowest, statement = first_byte(client, path)
        mark = "" if first < BAR_MS else "  ABOVE THE BAR"
        print(f"  {page:32}{first:8.0f} ms   slowest statement {slowest:6.1f} ms{mark}")
        if slowest > BAR_MS / 4:
            print(f"      {statement[:400]}", flush=True)


def first_byte(client, path: str) -> tuple[float, float, str]:
    """Return the median in milliseconds, and the slowest statement of one more request."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    taken = []
    for _ in range(5):
        begun = time.perf_counter()
        answer = client.get(path, follow=True)
        taken.append((time.perf_counter() - begun) * 1000)
        if answer.status_code != 200:
            raise RuntimeError(f"{path}: {answer.status_code}")
    with CaptureQueriesContext(connection) as seen:
        client.get(path, follow=True)
    worst = max(seen.captured_queries, key=lambda query: float(query["time"]))
    return statistics.median(taken), float(worst["time"]) * 1000, worst["sql"]


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["measure"] else main()
