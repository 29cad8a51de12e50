"""Measure how soon a change is on open pages, and what the pages cost the web process.

    python -m bench.live sqlite        the other database; default settings
    BENCH_PAGES=300 BENCH_SECONDS=30   open pages over ten addresses, and for how long

One worker drains a backlog of short jobs meanwhile. Every second a job of its own is pushed; the
figure is the time from its commit until each page that lists it has it in hand. The exit code is 1
when the 95th percentile misses a second.
"""

import asyncio
import os
import statistics
import sys
import time

import psutil

from bench.parts.open_pages import OpenPage, Probe
from tests.queues.storm.stage import Stage
from tests.servers import patient_http
from tests.servers.ports import free_port
from tests.servers.waiting import wait_until

PAGES = int(os.environ.get("BENCH_PAGES", "300"))
SECONDS = int(os.environ.get("BENCH_SECONDS", "30"))
BACKLOG = int(os.environ.get("BENCH_BACKLOG", str(1000 * SECONDS)))
GOAL_SECONDS = 1.0
YEAR_2096_MS = 4_000_000_000_000
PROBED = "/jobs/?q=queue:probed"
ADDRESSES = [PROBED, "/", "/queues/", "/jobs/", "/instances/", "/allocations/", "/transactions/"]
ADDRESSES += ["/events/", "/pools/", "/queues/backlog/"]
SETTINGS = {"ATRIBUTO_STREAMS": "2000", "ATRIBUTO_STREAMS_PER_USER": "2000"}


def main() -> int:
    database = sys.argv[1] if sys.argv[1:] else "postgresql"
    port = free_port()
    settings = {**SETTINGS, "ATRIBUTO_PORT": str(port), "ATRIBUTO_REQUESTS_PER_MINUTE": "1000000"}
    with Stage(database, settings=settings) as stage:
        web = stage.web()
        wait_until(lambda: patient_http.answers(f"http://127.0.0.1:{port}"), 60)
        make_queues()
        stage.curator()
        stage.worker()
        cookie = logged_in()
        print(f"{database}, {PAGES} pages, {len(ADDRESSES)} addresses, {SECONDS} s", flush=True)
        before = spent(web)
        waits, done = asyncio.run(watch(port, cookie))
        return tell(waits, done, (spent(web) - before) / SECONDS)


def make_queues() -> None:
    import queues

    queues.create("backlog")
    queues.create("probed")


def logged_in() -> str:
    """Return the cookie of a new viewer's session."""
    from django.conf import settings
    from django.contrib.auth.models import Group, User
    from django.test import Client

    user = User.objects.create_user("viewer")
    user.groups.set(Group.objects.filter(name="viewer"))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"


async def watch(port: int, cookie: str) -> tuple[list[float], int]:
    """Open the pages, push, and return the waits and how many jobs the worker has done."""
    probe = Probe(PROBED)
    pages = [
        OpenPage(port, cookie, ADDRESSES[number % len(ADDRESSES)], probe) for number in range(PAGES)
    ]
    following = [asyncio.create_task(page.follow()) for page in pages]
    await asyncio.gather(*(page.opened.wait() for page in pages))
    done = await asyncio.to_thread(push, probe)
    for task in following:
        task.cancel()
    return probe.waits, done


def push(probe: "Probe") -> int:
    """Push a backlog and then one job a second; return how many jobs of the backlog have ended."""
    import queues

    act = {"mount": "/probe", "name": "act"}
    backlog, probed = queues.get("backlog"), queues.get("probed")
    backlog.push_many(act, [{}] * BACKLOG)
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        probe.pushed(probed.push(act, delay_until=YEAR_2096_MS), time.monotonic())
        time.sleep(1.13)  # out of step with the hints
    return BACKLOG - len(backlog.pending())


def spent(process) -> float:
    return sum(psutil.Process(process.pid).cpu_times()[:2])


def tell(waits: list[float], done: int, share: float) -> int:
    ordered = sorted(waits)
    p50, p95 = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    missed = p95 > GOAL_SECONDS
    print(f"  change -> page: {len(ordered)} times, p50 {p50:.2f} s, p95 {p95:.2f} s", end="")
    print(f" (at most {GOAL_SECONDS} s: {'MISSED' if missed else 'kept'}), max {ordered[-1]:.2f} s")
    print(f"  web process: {share:.0%} of a core, {share / PAGES:.2%} per page", end="")
    print(f"; jobs that ended meanwhile: {done / SECONDS:.0f}/s", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
