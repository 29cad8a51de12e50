"""Measure workers that do many things at once beside their peers: jobs that wait or compute.

For each contestant and kind of job: jobs per second, memory (shared pages counted once), jobs per
second and GB, processor seconds per 1,000 jobs, and the 99th percentile from push to start at half
load. Ours keeps every job, attempt and result in PostgreSQL; the peers keep messages in Redis.

    python -m bench.many_at_once              all of it
    python -m bench.many_at_once sleep ours   kinds and names of contestants choose
    python -m bench.many_at_once child        what each further warm child costs
    BENCH_JOBS=400                            a quick look

The exit code is 1 when a bar is missed: first or within 10 % of the first in every line, 1,000 jobs
per second of 50 ms with one worker in less than 300 MB, and 15 MB for each further warm child. A
contestant that cannot run is a bar that is missed, too.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.parts.environments import python_of, versions_of
from tests.servers.postgres.server import PostgresCluster
from tests.servers.valkey import ValkeyServer

ROOT = Path(__file__).parents[1]
PARTS = ROOT / "bench" / "parts_of_many"
JOBS = int(os.environ.get("BENCH_JOBS", "2000"))
KINDS = {"sleep": 1.0, "http": 1.0, "cpu1": 1.0, "cpu20": 0.1}  # and its share of the jobs
LONGEST_SECONDS = 120
FULL = 1000.0  # jobs per second and MB that one worker has to reach
MOST_MB = 300.0
CHILD_MB = 15.0  # what a further warm child may cost
CHILDREN = 5


@dataclass
class Contestant:
    name: str
    part: str
    worker: list[str]
    kinds: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    share: float = 1.0
    packages: tuple[str, ...] = ()  # of an environment of its own; none for ours

    def python(self) -> str:
        return python_of(self.part, self.packages) if self.packages else sys.executable


def contestants() -> list[Contestant]:
    wait, compute = ["sleep", "http"], ["cpu1", "cpu20"]
    both = [*wait, *compute]
    ours = [sys.executable, str(ROOT / "manage.py"), "worker", "many"]
    celery = ["PYTHON", "-m", "celery", "-A", "celery_many", "worker", "-l", "ERROR"]
    with_celery = ("celery[redis]",)
    return [
        Contestant("ours, async", "ours_many", ours, wait, {"SCRIPT": "async"}),
        Contestant("ours, threads", "ours_many", ours, wait, {"SCRIPT": "threads"}),
        Contestant(
            "ours, 2", "ours_many", [*ours, "--concurrency", "2"], compute, {"SCRIPT": "alone"}
        ),
        Contestant(
            "RQ pool, 2",
            "rq_many",
            ["PYTHON", "-m", "rq.cli", "worker-pool", "many", "-n", "2", "-q", "-u", "REDIS"],
            both,
            share=0.1,
            packages=("rq",),
        ),
        Contestant(
            "Celery prefork, 2",
            "celery_many",
            [*celery, "-c", "2"],
            both,
            share=0.5,
            packages=with_celery,
        ),
        Contestant(
            "Celery threads, 100",
            "celery_many",
            [*celery, "-P", "threads", "-c", "100"],
            wait,
            packages=with_celery,
        ),
        Contestant(
            "Dramatiq 2 x 50",
            "dramatiq_many",
            ["PYTHON", "-m", "dramatiq", "dramatiq_many", "-p", "2", "-t", "50"],
            both,
            packages=("dramatiq[redis]",),
        ),
        Contestant(
            "Huey, 100 threads",
            "huey_many",
            ["PYTHON", "-m", "huey.bin.huey_consumer", "huey_many.huey", "-w", "100", "-q"],
            wait,
            packages=("huey", "redis"),
        ),
        Contestant(
            "arq, 100",
            "arq_many",
            ["PYTHON", "-m", "arq", "arq_many.WorkerSettings"],
            wait,
            packages=("arq",),
        ),
    ]


def main() -> int:
    wanted = sys.argv[1:]
    is_child = not wanted or "child" in wanted
    kinds = [kind for kind in KINDS if kind in wanted] or ([] if "child" in wanted else list(KINDS))
    names = [word for word in wanted if word not in {*KINDS, "child"}]
    chosen = [c for c in contestants() if not names or any(word in c.name for word in names)]
    lines: dict[str, dict[str, dict[str, float]]] = {}
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as name, ValkeyServer() as valkey, PostgresCluster() as pg:
        given = _environment(valkey.url, pg.url(), Path(name))
        _call(given, "ours_many", "schema", python=sys.executable)
        for each in (each for each in chosen if each.packages):
            print(f"{each.name:22} {versions_of(each.python(), each.packages)}", flush=True)
        for kind in kinds:
            for each in (each for each in chosen if kind in each.kinds):
                try:
                    figures = _measured(each, kind, given, Path(name))
                except (subprocess.CalledProcessError, TimeoutError) as error:
                    missed.append(f"MISSED {kind}: {each.name} cannot run here: {error}")
                    print(missed[-1], flush=True)
                    continue
                lines.setdefault(kind, {})[each.name] = figures
                told = "  ".join(f"{what} {value:,.1f}" for what, value in figures.items())
                print(f"{kind:6} {each.name:22} {told}", flush=True)
        if is_child:
            megabytes = _further_child(given, Path(name))
            print(f"each further warm child: {megabytes:.1f} MB", flush=True)
            if megabytes > CHILD_MB:
                missed.append(
                    f"MISSED a further child takes {megabytes:.1f} MB, not {CHILD_MB:.0f}"
                )
    missed += _missed(lines)
    print("\n".join(missed))
    return bool(missed)


def _missed(lines: dict[str, dict[str, dict[str, float]]]):  # type: ignore[no-untyped-def]
    for kind, figures in lines.items():
        for what in ("jobs/s", "jobs/s and GB"):
            best = max(each[what] for each in figures.values())
            mine = max(
                (each[what] for name, each in figures.items() if "ours" in name), default=best
            )
            if mine < 0.9 * best:
                yield f"MISSED {kind}: {what} {mine:,.0f}, the first has {best:,.0f}"
    ours = lines.get("sleep", {}).get("ours, async")
    if ours and (ours["jobs/s"] < FULL or ours["MB"] > MOST_MB):
        yield f"MISSED sleep: {ours['jobs/s']:,.0f} jobs/s in {ours['MB']:,.0f} MB"


def _environment(redis: str, postgres: str, folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "ROOT": str(ROOT),
        "REDIS": redis,
        "REDIS_URL": redis,
        "DATABASE_URL": postgres,
        "ATRIBUTO_ENV": "test",
        "ATRIBUTO_LOG_LEVEL": "ERROR",
        "ATRIBUTO_SERVICE_ROOTS": str(PARTS),
        "ATRIBUTO_VAR_DIR": str(folder / "var"),
        "PYTHONPATH": str(PARTS),
        "SLOW_URL": f"http://127.0.0.1:{_slow_server()}",
    }


def _measured(each: Contestant, kind: str, given: dict[str, str], folder: Path) -> dict[str, float]:
    jobs = max(40, int(JOBS * KINDS[kind] * each.share))
    marks = folder / f"{each.name}-{kind}".replace(" ", "-")
    environment = {**given, **each.environment, "MARKS": str(marks)}
    if "ours" in each.name:
        environment["PYTHONPATH"] = str(ROOT)
    python = each.python()
    _call(environment, each.part, kind, str(jobs), "0", python=python)
    places = {"REDIS": given["REDIS"], "PYTHON": python}
    words = [places.get(word, word) for word in each.worker]
    worker = subprocess.Popen(
        words,
        cwd=PARTS,
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(marks, jobs // 10)
        cpu = _cpu(worker.pid)
        _wait_for(marks, jobs)
        begun, ended = _span(marks, jobs // 10)
        rate = (jobs - jobs // 10) / (ended - begun)
        used = (_cpu(worker.pid) - cpu) / (jobs - jobs // 10) * 1000
        megabytes = _memory(worker.pid)
        p99 = _half_load(each, kind, environment, python, marks, jobs, rate / 2)
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    return {
        "jobs/s": rate,
        "MB": megabytes,
        "jobs/s and GB": rate / megabytes * 1024,
        "CPU s/1,000": used,
        "p99 ms": p99,
    }


def _further_child(given: dict[str, str], folder: Path) -> float:
    """Return what each child after the first adds to the memory of a worker."""
    one, many = (_with_children(given, folder, children) for children in (1, CHILDREN))
    return (many - one) / (CHILDREN - 1)


def _with_children(given: dict[str, str], folder: Path, children: int) -> float:
    marks, jobs = folder / f"children-{children}", 40 * children
    environment = {**given, "SCRIPT": "alone", "MARKS": str(marks), "PYTHONPATH": str(ROOT)}
    _call(environment, "ours_many", "cpu20", str(jobs), "0", python=sys.executable)
    command = [sys.executable, str(ROOT / "manage.py"), "worker", "many"]
    worker = subprocess.Popen(
        [*command, "--concurrency", str(children)], env=environment, start_new_session=True
    )
    try:
        _wait_for(marks, jobs)
        return _memory(worker.pid)
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def _half_load(each, kind, environment, python, marks, done, rate) -> float:  # type: ignore[no-untyped-def]
    count = max(30, min(600, int(rate * 5)))
    _call(environment, each.part, kind, str(count), str(rate), python=python)
    _wait_for(marks, done + count)
    lines = [tuple(map(float, line.split())) for line in marks.read_text().splitlines()[done:]]
    waits = sorted((begun - pushed) * 1000 for pushed, begun, _ in lines)
    return waits[len(waits) * 99 // 100 - 1]


def _span(marks: Path, first: int) -> tuple[float, float]:
    ends = sorted(float(line.split()[2]) for line in marks.read_text().splitlines())
    return ends[first - 1], ends[-1]


def _wait_for(marks: Path, count: int) -> None:
    give_up = time.monotonic() + LONGEST_SECONDS
    while not marks.exists() or marks.read_bytes().count(b"\n") < count:
        if time.monotonic() > give_up:
            raise TimeoutError(
                f"{marks.name}: {marks.read_bytes().count(b'x') if marks.exists() else 0}"
            )
        time.sleep(0.02)


def _family(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def _cpu(pid: int) -> float:
    return sum(sum(each.cpu_times()[:2]) for each in _family(pid))


def _memory(pid: int) -> float:
    return sum(each.memory_full_info().pss for each in _family(pid)) / 2**20


def _call(environment: dict[str, str], part: str, *arguments: str, python: str) -> None:
    subprocess.run(
        [python, str(PARTS / f"{part}.py"), *arguments], cwd=PARTS, env=environment, check=True
    )


def _slow_server() -> int:
    """Answer HTTP after 50 ms, in a thread; return the port."""
    ready: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.05)
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1000)
        ready.append(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    while not ready:
        time.sleep(0.01)
    return ready[0]


if __name__ == "__main__":
    sys.exit(main())
