"""Measure the lists on one database: `python -m bench.parts.lists` with DATABASE_URL set."""

import http.client
import os
import statistics
import threading
import time
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import Group, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from tests.allocation.placement.filling import fill  # noqa: E402

INSTANCES = 10_000
ROWS = int(os.environ.get("BENCH_ROWS", "1000000"))
ROUNDS = 15
BAR_MS = 200
PATHS = [
    "/api/v1/instances",
    "/api/v1/instances?prefix=instance5",
    "/api/v1/allocations",
    "/api/v1/instances/instance5/jobs",
    "/instances/",
    "/allocations/",
    "/instances/instance5/",
    "/allocations/-/rebalance/",
    "/admin/allocation/instance/",
    "/admin/allocation/allocation/",
]


class Quiet(WSGIRequestHandler):
    def log_message(self, *facts: object) -> None:
        pass


def logged_in() -> Client:
    user = User.objects.create_user("bench")
    user.groups.set(Group.objects.filter(name="operator"))
    client = Client(headers={"host": "localhost"})
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def first_byte_ms(port: int, path: str, cookie: str) -> float:
    asked = http.client.HTTPConnection("localhost", port)
    start = time.perf_counter()
    asked.request("GET", path, headers={"Cookie": cookie})
    answer = asked.getresponse()
    answer.read(1)
    found = (time.perf_counter() - start) * 1000
    answer.read()
    asked.close()
    assert answer.status == 200, (path, answer.status)
    return found


def main() -> None:
    call_command("migrate", verbosity=0)
    fill(instances=INSTANCES, jobs=ROWS)
    client = logged_in()
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    server = make_server("localhost", 0, get_wsgi_application(), handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(
        f"{INSTANCES:,} instances, {ROWS:,} allocations{'median ms':>22}{'worst':>8}{'queries':>9}"
    )
    for path in PATHS:
        first_byte_ms(server.server_port, path, cookie)
        times = [first_byte_ms(server.server_port, path, cookie) for _ in range(ROUNDS)]
        with CaptureQueriesContext(connection) as captured:
            client.get(path)
        verdict = "met" if max(times) < BAR_MS else "MISSED"
        print(
            f"{path:44}{statistics.median(times):>16.0f}{max(times):>8.0f}{len(captured):>9}"
            f"  bar {BAR_MS}: {verdict}",
            flush=True,
        )
    server.shutdown()


if __name__ == "__main__":
    main()
