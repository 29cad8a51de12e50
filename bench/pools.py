"""Measure pools beside their peers: claims, requests and watched names.

Rounds are interleaved and every figure is a median. Peers that are not among our own
requirements are installed below var/bench, at the newest version, which is printed.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.servers.postgres.server import PostgresCluster
from tests.servers.valkey import ValkeyServer

ROOT = Path(__file__).resolve().parent.parent
PARTS = Path(__file__).parent / "parts_of_pools"
VAR = ROOT / "var" / "bench"
ROUNDS = 5
SECONDS = "0.8"
NAMES = 1000
NAMES_TTL = 30
NAMES_SECONDS = 36  # a whole TTL with its spread

Contestants = dict[str, Callable[[], dict]]


def main() -> None:
    claims()
    claimants()
    requests()
    names()
    curator()


# -- what is measured ------------------------------------------------------------------------


def claims() -> None:
    print(f"\nclaim + release per second, one client (median of {ROUNDS})")
    with ExitStack() as stack:
        valkey = stack.enter_context(ValkeyServer())
        postgres = stack.enter_context(PostgresCluster())
        script = str(PARTS / "claims.py")
        found = compete(
            {
                "ours": lambda: python(script, "ours", SECONDS),
                "redis-py": lambda: python(script, "redis", SECONDS, valkey.url),
                "SQLAlchemy": lambda: run([peers(), script, "sqlalchemy", SECONDS]),
                "urllib3": lambda: python(script, "urllib3", SECONDS),
                "psycopg": lambda: python(script, "psycopg", SECONDS, postgres.url()),
                **original("1", "10"),
            }
        )
    goal(found, "cueball", 3.0)
    goal(found, "redis-py", 1.0)
    goal(found, "SQLAlchemy", 1.0)
    tell(found, "psycopg")
    tell(found, "urllib3")


def claimants() -> None:
    print(f"\nclaim + release per second, 50 claimants on 10 connections (median of {ROUNDS})")
    script = str(PARTS / "claimants.py")
    found = compete({"ours": lambda: python(script, SECONDS, "50", "10"), **original("50", "10")})
    goal(found, "cueball", 3.0)


def requests() -> None:
    print(f"\nGET requests per second, one client, loopback (median of {ROUNDS})")
    script = str(PARTS / "get.py")
    with serving("web_server") as port:
        url = f"http://127.0.0.1:{port}/"
        contestants = ["ours", "requests", "urllib3", "requests_with_agent"]
        found = compete(
            {name: lambda name=name: python(script, name, SECONDS, url) for name in contestants}
        )
    goal(found, "requests", 1.0)
    goal(found, "urllib3", 0.9)


def names() -> None:
    print(f"\nwatching {NAMES} names with a TTL of {NAMES_TTL} s for {NAMES_SECONDS} s")
    with serving("name_server", str(NAMES), str(NAMES_TTL)) as port:
        found = python(str(PARTS / "names.py"), str(NAMES), str(NAMES_SECONDS), port)
    share = found["share_of_a_core"]
    print(f"  threads: {', '.join(found['threads'])}")
    print(f"  {share:.1%} of one core; goal: one thread, below 5 %: {verdict(share < 0.05)}")


def curator() -> None:
    print(f"\na curator that watches {NAMES} names with a TTL of {NAMES_TTL} s, on SQLite")
    script = str(PARTS / "curator.py")
    found = python(script, str(NAMES), str(NAMES_TTL), str(NAMES_SECONDS))
    took, share = found["seconds_until_all_are_in"], found["share_of_a_core"]
    print(f"  all are instances after {took:.1f} s; goal: below 30 s: {verdict(took < 30)}")
    print(f"  without names {found['idle_share']:.1%} of one core, with them {share:.1%};")
    print(f"  goal: below 5 %: {verdict(share < 0.05)}")
    waits = found["seconds_until_drained"]
    said = ", ".join(f"{wait:.2f}" for wait in waits)
    print(f"  a target that left the zone (TTL and floor 1 s) drained after {said} s")
    print(f"  goal: at most 2.2 s: {verdict(max(waits) <= 2.2)}")


# -- rounds and ratios -----------------------------------------------------------------------


def compete(contestants: Contestants) -> dict[str, float]:
    """Run every contestant in every round; print and return the medians."""
    rounds = [{name: call() for name, call in contestants.items()} for _ in range(ROUNDS)]
    medians = {}
    for name in contestants:
        rates = [figures[name]["per_second"] for figures in rounds]
        waits = [figures[name].get("p99_ms") for figures in rounds]
        medians[name] = statistics.median(rates)
        p99 = f"   p99 {statistics.median(waits):.2f} ms" if waits[0] is not None else ""
        version = rounds[0][name]["version"]
        print(f"  {name:<20} {medians[name]:>10,.0f}   ({version}){p99}")
    return medians


def goal(found: dict[str, float], peer: str, least: float) -> None:
    if peer not in found:
        print(f"  {peer}: not measured")
        return
    ratio = found["ours"] / found[peer]
    print(f"  ours / {peer} = {ratio:.2f}; goal: {least:g} or more: {verdict(ratio >= least)}")


def tell(found: dict[str, float], peer: str) -> None:
    print(f"  ours / {peer} = {found['ours'] / found[peer]:.2f}")


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
    """Return an interpreter that has SQLAlchemy."""
    folder = VAR / "peers"
    interpreter = folder / "bin" / "python"
    if not (folder / "installed").exists():
        venv.create(folder, clear=True, with_pip=True)
        command = [str(interpreter), "-m", "pip", "install", "-q", "sqlalchemy"]
        subprocess.run(command, check=True)
        (folder / "installed").touch()
    return str(interpreter)


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
    main()
