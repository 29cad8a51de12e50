"""One database's figures: run by bench.screens."""

import os
import statistics
import sys
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import Group, User  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from bench._live_pages import beside_streams  # noqa: E402
from tests.site.full_site import fill, screens  # noqa: E402
from tests.site.many_rows import instances_for, many  # noqa: E402

ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
ROUNDS = 5
LIMIT_MS = 300
MORE = [
    "/?range=24h",
    "/?range=7d",
    "/jobs/?state=waiting",
    "/jobs/?state=complete",
    "/jobs/?state=failed",
    "/jobs/?state=failed&since=1h",
    "/jobs/?q=queue:default",
    "/jobs/?q=error:nowhere",
    "/jobs/?q=script:/mailer/send-mail",
    "/jobs/?q=data.to:nobody",
    "/instances/?state=available&prefix=many",
    "/allocations/?instance=many-7",
    "/events/?kind=many.happened",
    "/search/?q=many-7",
]


def main() -> int:
    settings.ALLOWED_HOSTS = ["*"]
    fill("bench")
    client = logged_in()
    paths = {**screens("bench"), **{path: path for path in MORE}}
    before = {name: queries(client, path) for name, path in paths.items()}
    began = time.perf_counter()
    many(ROWS)
    print(f"  {ROWS:,} jobs and allocations, {instances_for(ROWS):,} instances"
          f" in {time.perf_counter() - began:.0f} s")  # fmt: skip
    slow = [name for name, path in paths.items() if not line(client, name, path, before[name])]
    print(f"  over the limit or with more queries: {', '.join(slow) or 'none'}")
    p95 = beside_streams(session_of(client))
    return 0 if not slow and p95 <= 200 else 1


def logged_in() -> Client:
    user = User.objects.create(username="bench")
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
    assert answer.status_code == 200, (path, answer.status_code)
    return len(captured)


def line(client: Client, name: str, path: str, before: int) -> bool:
    """One line of the table; True when it keeps to the limit."""
    count = queries(client, path)
    times = sorted(milliseconds(client, path) for _ in range(ROUNDS))
    middle, worst = statistics.median(times), times[-1]
    good = middle <= LIMIT_MS and count <= before
    mark = "" if good else "  <<<"
    print(f"  {name[:44]:45}{middle:7.0f} ms {worst:7.0f} ms {count:4} queries ({before}){mark}")
    return good


def milliseconds(client: Client, path: str) -> float:
    from django.core.cache import cache

    cache.clear()  # the first look counts, not what somebody else has just asked for
    start = time.perf_counter()
    client.get(path)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    sys.exit(main())
