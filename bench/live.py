"""Measure how soon a change is on open pages, and what the pages cost the web process.

    python -m bench.live sqlite        the other database; default settings
    BENCH_PAGES=300 BENCH_SECONDS=30   open pages over ten addresses, and for how long

One worker drains a backlog of short jobs meanwhile. Every second there is a new job, instance,
drain, transaction with a lock, and backend; the figure is the time from its commit until each page
that lists it has it in hand. The exit code is 1 when a 95th percentile misses a second.
"""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable

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
ACT = {"mount": "/probe", "name": "act"}
Change = Callable[[str], object]
YEAR_2096_MS = 4_000_000_000_000
CHANGES = {
    "job": Probe("/jobs/?q=queue:probed"),
    "instance": Probe("/instances/"),
    "drain": Probe("/instances/?state=draining"),
    "transaction": Probe("/transactions/"),
    "lock": Probe("/transactions/locks/"),
    "backend": Probe("/pools/backends/"),
}
ADDRESSES = ["/", "/queues/", "/jobs/", "/queues/backlog/"]
ADDRESSES += [probe.address for probe in CHANGES.values()]
SETTINGS = {"ATRIBUTO_STREAMS": "2000", "ATRIBUTO_STREAMS_PER_USER": "2000"}


def main() -> int:
    database = sys.argv[1] if sys.argv[1:] else "postgresql"
    port = free_port()
    settings = {**SETTINGS, "ATRIBUTO_PORT": str(port), "ATRIBUTO_REQUESTS_PER_MINUTE": "1000000"}
    with Stage(database, settings=settings) as stage:
        web = stage.web()
        wait_until(lambda: patient_http.answers(f"http://127.0.0.1:{port}"), 60)
        changes = prepared()
        stage.curator()
        stage.worker()
        cookie = logged_in()
        print(f"{database}, {PAGES} pages, {len(ADDRESSES)} addresses, {SECONDS} s", flush=True)
        before = spent(web)
        done = asyncio.run(watch(port, cookie, changes))
        return tell(done, (spent(web) - before) / SECONDS)


def prepared() -> dict[str, Change]:
    """Make what the changes need; each gets a name, and may return what pages show instead."""
    import queues
    from allocation.atributo import Atributo
    from allocation.placement import drains
    from allocation.transactions import Client, Transaction
    from pools.models import Backend, Pool

    ao, opened = Atributo(), list[Transaction]()
    queues.create("backlog")
    queue = queues.create("probed")
    pool = Pool.objects.create(name="svc", domain="svc.example", is_watched=False)

    def leave(name: str) -> None:
        only = {"only": name}
        ao.available(name, labels=only)
        ao.allocate(name, labels=only)
        drains.drain(name)

    return {
        "job": lambda name: queue.push(ACT, delay_until=YEAR_2096_MS),
        "instance": ao.available,
        "drain": leave,
        "transaction": lambda name: opened.append(Transaction(Client(), owner=name)),
        "lock": lambda name: opened[-1].lock("probes", name),
        "backend": lambda name: Backend.objects.create(pool=pool, key=name, name=name, port=80),
    }


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


async def watch(port: int, cookie: str, changes: dict[str, Change]) -> int:
    """Open the pages, change things, and return how many jobs the worker has done."""
    probes = {probe.address: probe for probe in CHANGES.values()}
    pages = []
    for number in range(PAGES):
        address = ADDRESSES[number % len(ADDRESSES)]
        pages.append(OpenPage(port, cookie, address, probes.get(address)))
    following = [asyncio.create_task(page.follow()) for page in pages]
    await asyncio.gather(*(page.opened.wait() for page in pages))
    done = await asyncio.to_thread(change, changes)
    for task in following:
        task.cancel()
    return done


def change(changes: dict[str, Change]) -> int:
    """Push a backlog and then make all changes, over and over; return how many jobs have ended."""
    import queues

    backlog = queues.get("backlog")
    backlog.push_many(ACT, [{}] * BACKLOG)
    ends = time.monotonic() + SECONDS
    number = 0
    while time.monotonic() < ends:
        number += 1
        for kind, make in changes.items():
            name = f"{kind}-{number:03}"
            made = make(name)
            CHANGES[kind].changed(made if isinstance(made, str) else name, time.monotonic())
            time.sleep(1.13 / len(changes))  # out of step with the hints
    return BACKLOG - len(backlog.pending())


def spent(process) -> float:
    return sum(psutil.Process(process.pid).cpu_times()[:2])


def tell(done: int, share: float) -> int:
    missed = [kind for kind, probe in CHANGES.items() if not is_soon(kind, probe.waits)]
    print(f"  web process: {share:.0%} of a core, {share / PAGES:.2%} per page", end="")
    print(f"; jobs that ended meanwhile: {done / SECONDS:.0f}/s", flush=True)
    return int(bool(missed))


def is_soon(kind: str, waits: list[float]) -> bool:
    ordered = sorted(waits)
    p50, p95 = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    kept = p95 <= GOAL_SECONDS
    print(f"  {kind:12} -> page: {len(ordered)} times, p50 {p50:.2f} s, p95 {p95:.2f} s", end="")
    print(f" (at most {GOAL_SECONDS} s: {'kept' if kept else 'MISSED'}), max {ordered[-1]:.2f} s")
    return kept


if __name__ == "__main__":
    sys.exit(main())
