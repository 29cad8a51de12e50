"""Measure one database: `python -m bench.parts.roll_backs` with DATABASE_URL set."""

import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
django.setup()

from django.db import connection, connections  # noqa: E402

from allocation.transactions import Client, Transaction  # noqa: E402
from allocation.transactions.models import Transaction as Row  # noqa: E402
from atributo_site.core.models import Event  # noqa: E402

KEYS = int(os.environ.get("BENCH_KEYS", "10000"))
EXPIRED = int(os.environ.get("BENCH_EXPIRED", "2000"))
CLIENTS = 8
CHANGES = int(os.environ.get("BENCH_CHANGES", "40"))
GIVE_UP_SECONDS = 300.0
PAST = "2000-01-01T00:00Z"


def main() -> int:
    print(f"{connection.vendor}: {KEYS:,} keys, load {os.getloadavg()[0]:.1f}", flush=True)
    verdicts = [own_roll_back()]
    with a_curator():
        verdicts += beside_a_large_one()
        verdicts.append(many_expired())
    verdicts.append(hot_key())
    return 0 if all(verdicts) else 1


def told(what: str, figure: float, reached: bool, goal: str) -> bool:
    word = "reached" if reached else "MISSED"
    print(f"  {what:52}{figure:9.1f}  ({goal}: {word})", flush=True)
    return reached


def own_roll_back() -> bool:
    txn = filled("own", KEYS)
    rate = KEYS / seconds_of(txn.roll_back)
    return told("keys per second that a program rolls back", rate, rate >= 1000, "at least 1,000")


def beside_a_large_one() -> list[bool]:
    """Both expire at once, the large one first."""
    large, small = filled("large", KEYS), filled("small", 5)
    began = time.monotonic()
    Row.objects.filter(pk=large.id).update(expires_at=PAST)
    wait_until(lambda: status(large) != "active")
    Row.objects.filter(pk=small.id).update(expires_at=PAST)
    asked = time.monotonic()
    wait_until(lambda: status(small) == "rolled_back")
    waited = time.monotonic() - asked
    wait_until(lambda: status(large) == "rolled_back")
    took, bar = time.monotonic() - began, 10.0 * max(1, KEYS / 10_000)
    return [
        told("seconds of a small one beside a large one", waited, waited <= 2, "at most 2"),
        told(f"seconds of one of {KEYS:,} keys", took, took <= bar, f"at most {bar:g}"),
    ]


def many_expired() -> bool:
    for number in range(EXPIRED):
        Transaction().put("expired", str(number), {"v": 1})
    Row.objects.unfinished().update(expires_at=PAST)
    rate = EXPIRED / seconds_of(lambda: wait_until(lambda: not Row.objects.unfinished().exists()))
    return told("expired ones per second", rate, rate >= 300, "at least 300")


def hot_key() -> bool:
    """Eight programs change one key, each as soon as it can."""
    Client().put("hot", "key", {"v": 0}).raise_for_status()
    connections.close_all()
    with multiprocessing.get_context("fork").Pool(CLIENTS) as pool:
        waits = sorted(wait for each in pool.map(changes, range(CLIENTS)) for wait in each)
    assert Client().get("hot", "key")["v"] == CLIENTS * CHANGES
    late = statistics.quantiles(waits, n=100)[98] * 1000
    middle = statistics.median(waits) * 1000
    print(f"  a hot key with {CLIENTS} clients: median {middle:.0f} ms, most {waits[-1]:.3f} s")
    return told("ms to change a hot key, 99th percentile", late, late <= 200, "at most 200")


def changes(_: int) -> list[float]:
    connections.close_all()
    return [seconds_of(change) for _ in range(CHANGES)]


def change() -> None:
    with Transaction(wait=60) as txn:
        txn.put("hot", "key", {"v": txn.get("hot", "key")["v"] + 1})


def filled(collection: str, keys: int) -> Transaction:
    """Begin a transaction that changes so many keys, half of which were there."""
    client, txn = Client(), Transaction()
    for number in range(0, keys, 2):
        client.put(collection, str(number), {"v": 0})
    for number in range(keys):
        txn.put(collection, str(number), {"v": 1, "text": "x" * 100})
    return txn


@contextmanager
def a_curator():
    process = subprocess.Popen([sys.executable, "manage.py", "run_curator"])
    try:
        wait_until(Event.objects.filter(kind="curator.active").exists)
        yield
    finally:
        process.terminate()
        process.wait()


def status(txn: Transaction) -> str:
    return Row.objects.values_list("status", flat=True).get(pk=txn.id)


def seconds_of(act) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def wait_until(condition) -> None:
    end = time.monotonic() + GIVE_UP_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {GIVE_UP_SECONDS:.0f} s")
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main())
