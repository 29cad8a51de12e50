"""Measure REST over kept connections beside a minimal REST framework view under gunicorn.

One web process each, in turn; the medians of ROUNDS rounds. The peer runs in an environment of its
own below var/bench, with its newest version: one view with a token, no limits, no log line, no
event. It fails when a read is slower than RATIO times the peer's, a write than WRITES a second, p99
with 64 clients above P99_MS, or when requests one by one over one connection take ALONE_MS each.
BENCH_DATABASES=sqlite measures one of the two.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from bench.parts.environments import python_of, versions_of
from tests.servers.patient_http import answers
from tests.servers.ports import free_port
from tests.servers.postgres.server import PostgresCluster
from tests.servers.valkey import ValkeyServer
from tests.servers.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent
PEER = ["django", "djangorestframework", "gunicorn"]
ROUNDS, COUNT, CLIENTS, MANY = 3, int(os.environ.get("BENCH_COUNT", "2000")), 8, 64
RATIO, WRITES, P99_MS = 1.5, 600, 150
ALONE_MS = 20  # an answer in two packets would wait 40 ms for the client's acknowledgement
PUSHED = '{"script": {"mount": "/counter", "name": "count"}, "data": {"to": 3}}'
READS = {"GET /me": ("GET", "/api/v1/me", ""), "GET /instances": ("GET", "/api/v1/instances", "")}
WRITTEN = {
    "PUT /allocations/{id}": ("PUT", "/api/v1/allocations/job-{}", ""),
    "POST /queues/bench/jobs": ("POST", "/api/v1/queues/bench/jobs", PUSHED),
}
REQUESTS = {**READS, **WRITTEN}


@dataclass
class Server:
    process: psutil.Process
    port: int
    authorization: str

    def measured(self, method: str, path: str, body: str, clients: int = CLIENTS) -> dict:
        """Return rate, p99 and processor time per request."""
        load = [sys.executable, "-m", "bench.parts.rest_load", str(self.port), str(clients)]
        before = self._seconds()
        command = [*load, str(COUNT), method, path, self.authorization, body]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
        assert ended.returncode == 0, ended.stderr[-2000:]
        spent = self._seconds() - before
        return {**json.loads(ended.stdout), "cpu_us": 1e6 * spent / COUNT}

    def _seconds(self) -> float:
        times = [each.cpu_times() for each in [self.process, *self.process.children()]]
        return sum(each.user + each.system for each in times)


def main() -> int:
    wanted = os.environ.get("BENCH_DATABASES", "sqlite,postgresql").split(",")
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as running:
        peer = running.enter_context(minimal_drf(Path(scratch)))
        missed = []
        for database in wanted:
            with site(database, Path(scratch) / database) as ours:
                missed += compared(database, ours, peer)
    for line in missed:
        print(f"missed: {line}")
    return 1 if missed else 0


def compared(database: str, ours: Server, peer: Server) -> list[str]:
    theirs, missed = ("GET", "/me", ""), []
    for name, request in READS.items():
        pairs = [(ours.measured(*request), peer.measured(*theirs)) for _ in range(ROUNDS)]
        ratio = median(mine["rate"] / other["rate"] for mine, other in pairs)
        show(database, name, [mine for mine, _ in pairs], f"{ratio:.2f} x the peer")
        show(database, "  minimal view", [other for _, other in pairs], "")
        missed += [f"{database} {name}: {ratio:.2f} x"] if ratio < RATIO else []
    for name, request in WRITTEN.items():
        rounds = [ours.measured(*request) for _ in range(ROUNDS)]
        show(database, name, rounds, "")
        rate = median(each["rate"] for each in rounds)
        missed += [f"{database} {name}: {rate:.0f}/s"] if rate < WRITES else []
    for name in ("GET /me", "PUT /allocations/{id}"):
        many = [ours.measured(*REQUESTS[name], clients=MANY) for _ in range(ROUNDS)]
        show(database, f"{name}, {MANY} clients", many, "")
        p99 = median(each["p99_ms"] for each in many)
        missed += [f"{database} {name}, p99 {p99:.0f} ms"] if p99 > P99_MS else []
    alone = [ours.measured(*READS["GET /me"], clients=1) for _ in range(ROUNDS)]
    show(database, "GET /me, 1 client", alone, "")
    each_ms = median(1000 / each["rate"] for each in alone)
    return missed + ([f"{database} one by one {each_ms:.0f} ms"] if each_ms > ALONE_MS else [])


def show(database: str, name: str, rounds: list[dict], remark: str) -> None:
    rate, p99, cpu = (median(each[key] for each in rounds) for key in ("rate", "p99_ms", "cpu_us"))
    facts = f"{rate:6.0f}/s  p99 {p99:6.1f} ms  {cpu:6.0f} us of processor time"
    print(f"{database:11}{name:26}{facts}  {remark}", flush=True)


@contextmanager
def site(database: str, folder: Path) -> Iterator[Server]:
    """Run `manage.py web` on a fresh database."""
    with ExitStack() as running:
        redis = running.enter_context(ValkeyServer()).url
        url = f"sqlite:///{folder}/site.sqlite3"
        if database == "postgresql":
            url = running.enter_context(PostgresCluster()).create_database("bench")
        folder.mkdir()
        environ = {
            **os.environ,
            "ATRIBUTO_ENV": "local",
            "ATRIBUTO_VAR_DIR": str(folder),
            "ATRIBUTO_REQUESTS_PER_MINUTE": "1000000",
            "DATABASE_URL": url,
            "REDIS_URL": redis,
        }
        prepare = [sys.executable, "-m", "bench.parts.rest_site"]
        token = _printed(prepare, environ)
        serve = [sys.executable, "manage.py", "web"]
        yield running.enter_context(_serving(serve, environ, f"Bearer {token}", folder))


@contextmanager
def minimal_drf(folder: Path) -> Iterator[Server]:
    python = python_of("drf", PEER)
    print("peer:", versions_of(python, PEER), flush=True)
    parts = ROOT / "bench" / "parts"
    environ = {**os.environ, "PEER_DATABASE": str(folder / "peer.sqlite3")}
    token = _printed([python, str(parts / "minimal_drf.py"), "prepare"], environ)
    serve = [python, "-m", "gunicorn", "--chdir", str(parts), "--threads", "8"]
    serve += ["--keep-alive", "30", "minimal_drf:application", "--bind", "127.0.0.1:PORT"]
    with _serving(serve, environ, f"Token {token}", folder) as server:
        yield server


def _printed(command: list[str], environ: dict[str, str]) -> str:
    ended = subprocess.run(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True)
    assert ended.returncode == 0
    return ended.stdout.split()[-1]


@contextmanager
def _serving(
    command: list[str], environ: dict[str, str], authorization: str, folder: Path
) -> Iterator[Server]:
    port = free_port()
    command = [word.replace("PORT", str(port)) for word in command]
    environ = {**environ, "ATRIBUTO_PORT": str(port)}
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
    try:
        wait_until(lambda: answers(f"http://127.0.0.1:{port}"), 120, "it does not answer")
        yield Server(psutil.Process(process.pid), port, authorization)
    finally:
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    sys.exit(main())
