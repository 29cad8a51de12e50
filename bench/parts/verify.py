"""Measure one database: `python -m bench.parts.verify` with DATABASE_URL set."""

import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Iterator

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
django.setup()

from django.db import connection  # noqa: E402
from django.db.models import Model  # noqa: E402

from allocation.atributo import Atributo  # noqa: E402
from allocation.transactions.models import (  # noqa: E402
    Document,
    DocumentVersion,
    JournalEntry,
    Transaction,
)
from atributo_site.core.models.clock import database_now  # noqa: E402
from atributo_site.core.models.pieces import Everything, Sample  # noqa: E402
from atributo_site.curator.integrity import all_rules  # noqa: E402
from queues.models import Queue, QueuedJob, Run  # noqa: E402

ROWS = int(os.environ.get("BENCH_ROWS", "50000"))
FEWEST_PER_SECOND = 5_000
LONGEST_SAMPLE_SECONDS = 5.0
MOST_MEGABYTES = 100
BATCH = 5_000


def main() -> int:
    filler = multiprocessing.get_context("spawn").Process(target=fill)
    filler.start()
    filler.join()  # so that the memory is that of the looks
    print(f"{connection.vendor}: {ROWS:,} rows in each of eight tables", flush=True)
    before = megabytes()
    rate, _ = measured("all rows", Everything())
    _, seconds = measured("a sample", Sample())
    grown = megabytes() - before
    print(f"  memory grew by {grown:.0f} MB", flush=True)
    small = grown <= MOST_MEGABYTES and seconds <= LONGEST_SAMPLE_SECONDS
    return 0 if small and rate >= FEWEST_PER_SECOND else 1


def measured(what: str, look: Everything) -> tuple[float, float]:
    """Return rows per second and the seconds; a row counts for each rule that reads it."""
    began, slowest = time.monotonic(), (0.0, "")
    for rule in all_rules():
        since = time.monotonic()
        assert rule.broken(look) == [], rule.name
        slowest = max(slowest, (time.monotonic() - since, rule.name))
    seconds = time.monotonic() - began
    figures = f"{look.rows:>10,} rows in {seconds:6.2f} s: {look.rows / seconds:>9,.0f} rows/s"
    print(f"  {what:10}{figures}; slowest {slowest[1]} {slowest[0]:.2f} s", flush=True)
    return look.rows / seconds, seconds


def fill() -> None:
    ao = Atributo()
    ao.available("one")
    for numbers in batches():
        ao.allocate_many(f"key{number:08}" for number in numbers)
        fill_documents(numbers)
        fill_jobs(numbers)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def fill_documents(numbers: range) -> None:
    now, refs = database_now(), [f"{number:016x}" for number in numbers]
    ended = {"status": "completed", "limit_at": now, "expires_at": now, "finished_at": now}
    transactions = made(Transaction(**ended) for _ in numbers)
    documents = made(
        Document(collection="c", key=ref, present=True, value={"v": 1}, ref=ref, lock_token=1)
        for ref in refs
    )
    pairs = list(zip(documents, transactions, strict=True))
    made(
        DocumentVersion(
            document=document,
            ref=document.ref,
            present=True,
            value={"v": 1},
            transaction=transaction,
            lock_token=1,
        )
        for document, transaction in pairs
    )
    made(
        JournalEntry(
            transaction=transaction,
            document=document,
            action="put",
            before_present=False,
            after_ref=document.ref,
        )
        for document, transaction in pairs
    )


def fill_jobs(numbers: range) -> None:
    queue, _ = Queue.objects.get_or_create(name="work")
    now = database_now()
    ended = {"mount": "/m", "script": "s", "status": "complete", "attempt": 1, "runs": 1}
    jobs = made(QueuedJob(id=n + 1, queue=queue, ended_at=now, **ended) for n in numbers)
    facts = {"attempt": 1, "number": 1, "worker": "w", "outcome": "complete"}
    made(Run(job=job, started_at=now, ended_at=now, **facts) for job in jobs)


def made(rows: Iterator[Model]) -> list[Model]:
    every = list(rows)
    return type(every[0])._default_manager.bulk_create(every, batch_size=1000)


def batches() -> Iterator[range]:
    for start in range(0, ROWS, BATCH):
        yield range(start, min(start + BATCH, ROWS))


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
