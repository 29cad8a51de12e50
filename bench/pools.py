"""Measure pools beside their peers: claims, requests, memory and watched names.

Rounds are interleaved and every figure is a median. Ratios are of rates per second of processor
time, which other programs on the machine disturb least; rates per second of the clock are printed
beside them. Peers that are not among our own requirements are installed below var/bench, at the
newest version, which is printed. The exit code is 1 if a goal is missed.

    python -m bench.pools                     everything, in about five minutes
    python -m bench.pools claims claimants    some parts
    BENCH_ROUNDS=1                            a quick look
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from bench.parts.environments import VAR, python_of
from tests.servers.postgres.server import PostgresCluster

ROOT = Path(__file__).resolve().parent.parent
PARTS = Path(__file__).parent / "parts_of_pools"
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SECONDS = "0.8"
NAMES = 1000
CONNECTIONS = 1000
NAMES_TTL = 30
NAMES_SECONDS = 36  # a whole TTL with its spread

Contestants = dict[str, Callable[[], dict]]


missed: list[str] = []


def main(wanted: list[str]) -> int:
    parts = [
        claims, claimants, requests, requests_of_asyncio, memory, imports, names, curator,
    ]  # fmt: skip
    unknown = set(wanted) - {part.__name__ for part in parts}
    if unknown:
        print(f"no part is called {', '.join(sorted(unknown))}")
        return 2
    for part in parts:
        if not wanted or part.__name__ in wanted:
            part()
    for text in missed:
        print(f"MISSED: {text}")
    return int(bool(missed))


# -- what is measured ------------------------------------------------------------------------


def claims() -> None:
    for threads in ("1", "8", "64"):
        claims_of(threads)


def claims_of(threads: str) -> None:
    """Compare with one claimant of the original, whatever the number: it has one thread."""
    print(f"\nclaim + release per second, threads: {threads} (median of {ROUNDS})")
    with ExitStack() as stack:
        postgres = stack.enter_context(PostgresCluster())
        script = str(PARTS / "claims.py")
        found = compete(
            {
                "ours": lambda: python(script, "ours", SECONDS, threads),
                "SQLAlchemy": lambda: run([peers(), script, "sqlalchemy", SECONDS, threads]),
                "urllib3": lambda: python(script, "urllib3", SECONDS, threads),
                "psycopg": lambda: python(script, "psycopg", SECONDS, threads, postgres.url()),
                **original("1", "10"),
            }
        )
    goal(found, "cueball", 4.0)
    for peer in ("SQLAlchemy", "psycopg", "urllib3"):
        goal(found, peer, 1.0)


def claimants() -> None:
    print(f"\nclaim + release per second, 50 tasks of one event loop (median of {ROUNDS})")
    script = str(PARTS / "claimants.py")
    for connections in ("50", "10"):
        print(f"  on {connections} connections")
        with PostgresCluster() as postgres:
            size = ["50", connections]
            url = postgres.url()
            found = compete(
                {
                    "ours": partial(python, script, "ours", SECONDS, *size),
                    "psycopg": partial(python, script, "psycopg", SECONDS, *size, url),
                    **original(*size),
                }
            )
        goal(found, "cueball", 4.0)
        goal(found, "psycopg", 1.0)


def requests() -> None:
    print(f"\nGET requests per second, one client, loopback (median of {ROUNDS})")
    script = str(PARTS / "get.py")
    with serving("web_server") as port:
        url = f"http://127.0.0.1:{port}/"
        contestants = ["ours", "requests", "urllib3", "httpx", "requests_with_agent"]
        found = compete(
            {name: lambda name=name: python(script, name, SECONDS, url) for name in contestants}
        )
    for peer in ("requests", "urllib3", "httpx"):
        goal(found, peer, 1.0)


def requests_of_asyncio() -> None:
    print(f"\nGET requests per second, 10 tasks of one event loop (median of {ROUNDS})")
    script = str(PARTS / "get_async.py")
    with serving("web_server") as port:
        url = f"http://127.0.0.1:{port}/"
        ours = ["ours", "httpx", "httpx_with_agent"]
        found = compete(
            {
                **{name: lambda name=name: python(script, name, SECONDS, url) for name in ours},
                "aiohttp": lambda: run([peers(), script, "aiohttp", SECONDS, url]),
            }
        )
    goal(found, "httpx", 1.0)
    goal(found, "aiohttp", 0.8)


def memory() -> None:
    print(f"\nmemory of {CONNECTIONS} connections")
    script = str(PARTS / "memory.py")
    with serving("web_server") as port:
        url = f"http://127.0.0.1:{port}/"
        found = {
            name: python(script, name, str(CONNECTIONS), url)["kb_per_connection"]
            for name in ("ours", "urllib3")
        }
    ratio = found["ours"] / found["urllib3"]
    print(f"  ours {found['ours']:.1f} kB each, urllib3 {found['urllib3']:.1f} kB each")
    tell(f"memory of a connection is {ratio:.2f} of urllib3's, at most 1.5", ratio <= 1.5)


def imports() -> None:
    code = "import time; began = time.process_time(); from pools import HttpAgent; import json; "
    code += "print(json.dumps({'ms': (time.process_time() - began) * 1000}))"
    command = [sys.executable, "-c", code]
    run(command, PYTHONDONTWRITEBYTECODE="")  # an installed package is compiled already
    took = statistics.median(run(command)["ms"] for _ in range(ROUNDS))
    tell(
        f"`from pools import HttpAgent` takes {took:.0f} ms of processor time, below 150",
        took < 150,
    )


def names() -> None:
    print(f"\nwatching {NAMES} names with a TTL of {NAMES_TTL} s for {NAMES_SECONDS} s")
    with serving("name_server", str(NAMES), str(NAMES_TTL)) as port:
        found = python(str(PARTS / "names.py"), str(NAMES), str(NAMES_SECONDS), port)
    share = found["share_of_a_core"]
    print(f"  threads: {', '.join(found['threads'])}")
    tell(f"watching takes {share:.1%} of one core, below 5 %", share < 0.05)


def curator() -> None:
    print(f"\na curator that watches {NAMES} names with a TTL of {NAMES_TTL} s, on SQLite")
    script = str(PARTS / "curator.py")
    found = python(script, str(NAMES), str(NAMES_TTL), str(NAMES_SECONDS))
    took, share = found["seconds_until_all_are_in"], found["share_of_a_core"]
    tell(f"all names are instances after {took:.1f} s, below 30 s", took < 30)
    print(f"  without names {found['idle_share']:.1%} of one core, with them {share:.1%};")
    tell(f"a curator with names takes {share:.1%} of one core, below 5 %", share < 0.05)
    waits = found["seconds_until_drained"]
    said = ", ".join(f"{wait:.2f}" for wait in waits)
    print(f"  a target that left the zone (TTL and floor 1 s) drained after {said} s")
    tell(f"the slowest drained after {max(waits):.2f} s, at most 2.2 s", max(waits) <= 2.2)


# -- rounds and ratios -----------------------------------------------------------------------


def compete(contestants: Contestants) -> dict[str, float]:
    """Run every contestant in every round; print and return the medians."""
    rounds = [{name: call() for name, call in contestants.items()} for _ in range(ROUNDS)]
    medians = {}
    for name in contestants:
        rates = [figures[name]["per_second"] for figures in rounds]
        cpu = statistics.median(figures[name]["per_cpu_second"] for figures in rounds)
        waits = [figures[name].get("p99_ms") for figures in rounds]
        medians[name] = cpu
        p99 = f"   p99 {statistics.median(waits):.2f} ms" if waits[0] is not None else ""
        version = rounds[0][name]["version"]
        clock = statistics.median(rates)
        print(f"  {name:<20} {clock:>10,.0f} {cpu:>10,.0f} of processor time   ({version}){p99}")
    return medians


def goal(found: dict[str, float], peer: str, least: float) -> None:
    if peer not in found:
        print(f"  {peer}: not measured")
        return
    ratio = found["ours"] / found[peer]
    tell(f"ours / {peer} = {ratio:.2f}, {least:g} or more", ratio >= least)


def tell(text: str, is_reached: bool) -> None:
    print(f"  {text}: {verdict(is_reached)}")
    if not is_reached:
        missed.append(text)


def verdict(is_reached: bool) -> str:
    return "reached" if is_reached else "MISSED"


# -- processes -------------------------------------------------------------------------------


def python(*argv: str) -> dict:
    return run([sys.executable, *argv])


def run(command: list[str], **environ: str) -> dict:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def serving(part: str, *argv: str) -> Iterator[str]:
    command = [sys.executable, str(PARTS / f"{part}.py"), *argv]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as server:
        yield server.stdout.readline().strip()
        server.stdin.close()


def peers() -> str:
    """Return an interpreter that has SQLAlchemy and aiohttp."""
    return python_of("peers", ["sqlalchemy", "aiohttp"])


def original(claimants: str, connections: str) -> Contestants:
    """Return the npm package, if Node is installed and the package can be fetched."""
    folder = VAR / "node"
    if not shutil.which("node") or not shutil.which("npm"):
        return {}
    if not (folder / "node_modules" / "cueball").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--prefix", str(folder), "cueball"]
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
            return {}
    argv = ["node", str(PARTS / "claims.js"), SECONDS, claimants, connections]
    return {"cueball": lambda: run(argv, NODE_PATH=str(folder / "node_modules"))}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
