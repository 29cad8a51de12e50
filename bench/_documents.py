"""One database's figures: run by bench.documents."""

import os
import statistics
import sys
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
django.setup()

from django.db import connection  # noqa: E402
from django.db.transaction import atomic  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from allocation.leases import HeldLease  # noqa: E402
from allocation.models.clock import database_now  # noqa: E402
from allocation.transactions import Client, Transaction  # noqa: E402
from allocation.transactions.curate import expired_transactions  # noqa: E402
from allocation.transactions.models import Document  # noqa: E402
from allocation.transactions.models import Transaction as Row  # noqa: E402
from tests.transactions.rows import finished_transactions  # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
COUNT = int(os.environ.get("BENCH_COUNT", "60"))
FINISHED = int(os.environ.get("BENCH_FINISHED", "1000000"))
EXPIRED = 100
VALUE = {"name": "Ada", "tags": ["a", "b"], "text": "x" * 100}
client = Client()


def upsert(key: str) -> None:
    """One statement and one commit: the fastest that the ORM offers."""
    Document.objects.bulk_create(
        [Document(collection="plain", key=key, present=True, value=VALUE, ref="r")],
        update_conflicts=True,
        unique_fields=["collection", "key"],
        update_fields=["value", "ref", "present"],
    )


def five_upserts(number: int) -> None:
    for place in range(5):
        upsert(f"{number}-{place}")


def five_in_one_transaction(number: int) -> None:
    with atomic():
        five_upserts(number)


def five_update_or_create(number: int) -> None:
    for place in range(5):
        Document.objects.update_or_create(
            collection="plain",
            key=f"u{number}-{place}",
            defaults={"present": True, "value": VALUE, "ref": "r"},
        )


def five_locked_puts(number: int) -> None:
    for place in range(5):
        client.put("locked", f"{number}-{place}", VALUE)


def transaction_of_five(number: int) -> None:
    txn = Transaction(client)
    for place in range(5):
        txn.put("txn", f"{number}-{place}", VALUE)
    txn.complete()


KINDS = [
    five_upserts,
    five_update_or_create,
    five_in_one_transaction,
    five_locked_puts,
    transaction_of_five,
]


def main() -> int:
    medians = {kind.__name__: [] for kind in KINDS}
    for _ in range(ROUNDS):
        for kind in KINDS:
            medians[kind.__name__].append(_milliseconds(kind))
    found = {name: statistics.median(times) for name, times in medians.items()}
    for name, milliseconds in found.items():
        print(f"  {name:26}{milliseconds:8.2f} ms  {1000 / milliseconds:8.0f} / s")
    ratio = found["transaction_of_five"] / found["five_upserts"]
    print(f"  a transaction of five costs {ratio:.2f} × five upserts (goal: at most 2)")
    locked = found["five_upserts"] / found["five_locked_puts"]
    print(f"  a lock-checked put is {locked:.2f} × as fast as an upsert (goal: at least 1.3)")
    _sweep()
    return 0 if ratio <= 2 else 1


def _milliseconds(kind) -> float:
    start = time.perf_counter()
    for number in range(COUNT):
        kind(number)
    return (time.perf_counter() - start) / COUNT * 1000


def _sweep() -> None:
    finished_transactions(FINISHED - Row.objects.count())
    for number in range(EXPIRED):
        Transaction(client).put("sweep", str(number), VALUE)
    Row.objects.unfinished().update(expires_at="2000-01-01T00:00Z")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    lease = HeldLease.take("curator", "bench", 3600)
    seconds, queries = _timed(lambda: expired_transactions(database_now(), lease))
    print(
        f"  a sweep over {Row.objects.count():,} rolls back {EXPIRED} in {seconds:.2f} s"
        f" ({queries / EXPIRED:.0f} statements each)"
    )
    seconds, queries = _timed(lambda: expired_transactions(database_now(), lease))
    print(f"  a sweep that finds nothing: {seconds * 1000:.2f} ms, {queries} statements")


def _timed(act) -> tuple[float, int]:
    with CaptureQueriesContext(connection) as captured:
        start = time.perf_counter()
        act()
        return time.perf_counter() - start, len(captured)


if __name__ == "__main__":
    sys.exit(main())
