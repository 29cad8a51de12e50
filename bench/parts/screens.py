"""Measure one database; bench.screens runs this."""

import json
import os
import statistics
import sys
import time
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import Group, User  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from atributo_site.core.models import Lease  # noqa: E402
from atributo_site.core.models.clock import database_now, from_now  # noqa: E402
from bench.parts.live_pages import beside_streams  # noqa: E402
from bench.parts.search import every_text, fill_documents  # noqa: E402
from queues.models import MinuteCount, Queue  # noqa: E402
from tests.console.addresses import addresses  # noqa: E402
from tests.console.full_site import fill  # noqa: E402
from tests.console.many_rows import instances_for, many  # noqa: E402

ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
PART = os.environ.get("BENCH_PART", "")
ROUNDS = 5
LIMIT_MS = 300
NAME = "bench"


def main(verb: str) -> int:
    settings.ALLOWED_HOSTS = ["*"]
    return {"fill": fill_once, "count": count, "measure": measure}[verb]()


def fill_once() -> int:
    if User.objects.filter(username=NAME).exists():
        return 0
    fill(NAME)
    logged_in()
    if ROWS:
        began = time.perf_counter()
        many(ROWS)
        settle()
        print(f"  {ROWS:,} jobs and allocations, {instances_for(ROWS):,} instances"
              f" in {time.perf_counter() - began:.0f} s", flush=True)  # fmt: skip
    return 0


def count() -> int:
    """Count the queries of each screen on a small database."""
    client = logged_in()
    found = {name: queries(client, path) for name, path in addresses(NAME).items()}
    Path(os.environ["BENCH_COUNTS"]).write_text(json.dumps(found))
    return 0


def measure() -> int:
    client = logged_in()
    if PART == "search":
        fill_documents(ROWS)
        return 1 if every_text(client) else 0
    slow = [] if PART == "live" else every_screen(client)
    p95 = 0.0 if PART == "screens" else beside_streams(session_of(client))
    return 0 if not slow and p95 <= 200 else 1


def every_screen(client: Client) -> list[str]:
    paths = addresses(NAME)
    few = json.loads(Path(os.environ["BENCH_COUNTS"]).read_text())
    slow = [name for name, path in paths.items() if not line(client, name, path, few.get(name, 0))]
    print(f"  {len(paths)} addresses; over the limit or with more queries: {len(slow)}")
    return slow


def settle() -> None:
    """Bring the database into the state that autovacuum leaves."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def freshen() -> None:
    """Give an old database a live curator and a count of this minute."""
    Lease.objects.filter(role="curator").update(expires_at=from_now(3600))
    minute = database_now().replace(second=0, microsecond=0)
    queue = Queue.objects.order_by("name").first()
    MinuteCount.objects.get_or_create(queue=queue, minute=minute, defaults={"complete": 1})


def logged_in() -> Client:
    freshen()
    user, _ = User.objects.get_or_create(username=NAME)
    user.groups.set(Group.objects.filter(name="admin"))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def session_of(client: Client) -> str:
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"


def queries(client: Client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(path)
    if answer.status_code != 200:
        print(f"  {path} answers {answer.status_code}")
    return len(captured)


def line(client: Client, name: str, path: str, few: int) -> bool:
    """Print one line of the table; return True when it keeps to the limit."""
    found = queries(client, path)
    times = sorted(milliseconds(client, path) for _ in range(ROUNDS))
    middle, worst = statistics.median(times), times[-1]
    good = worst <= LIMIT_MS and found <= few
    mark = "" if good else "  <<<"
    print(f"  {name[:64]:65}{middle:7.0f} ms {worst:7.0f} ms {found:4} queries ({few}){mark}",
          flush=True)  # fmt: skip
    return good


def milliseconds(client: Client, path: str) -> float:
    from django.core.cache import cache

    cache.clear()  # the first request counts, not one that finds warm caches
    start = time.perf_counter()
    client.get(path)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
