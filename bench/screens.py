"""Measure every screen on a full SQLite and PostgreSQL, and beside 300 open live pages.

1,000,000 jobs, 1,000,000 allocations, 1,000,000 events, 10,000 instances (BENCH_ROWS makes it
smaller or larger). Goal: the first byte of every screen, raw list, filter and later page within
300 ms, with as many queries as on a small database; plain pages beside 300 streams on one web
process within 200 ms p95. BENCH_DATABASES=sqlite measures one of the two; BENCH_KEEP=FOLDER keeps
the filled databases there and uses them again, BENCH_PART=screens or live measures one half.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.parts.kept import KeptCluster
from tests.servers.ports import free_port
from tests.servers.postgres import server
from tests.servers.valkey import ValkeyServer

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch, ValkeyServer() as valkey:
        folder = Path(os.environ.get("BENCH_KEEP", scratch))
        folder.mkdir(exist_ok=True)
        return max(on(folder, scratch, valkey.url) for on in wanted())


def wanted() -> list[Callable[[Path, str, str], int]]:
    names = os.environ.get("BENCH_DATABASES", "sqlite,postgresql").split(",")
    return [{"sqlite": on_sqlite, "postgresql": on_postgresql}[name] for name in names]


def on_sqlite(folder: Path, scratch: str, redis_url: str) -> int:
    print("SQLite", flush=True)
    few, full = f"sqlite:///{scratch}/few.sqlite3", f"sqlite:///{folder}/full.sqlite3"
    prepare(few, full, scratch)
    return measure(few, full, scratch, redis_url)


def on_postgresql(folder: Path, scratch: str, redis_url: str) -> int:
    print("PostgreSQL", flush=True)
    server.SETTINGS.update({"shared_buffers": "512MB", "max_wal_size": "4GB"})
    with KeptCluster(folder / "postgresql") as cluster:
        few, full = cluster.database("few"), cluster.database("full")
        prepare(few, full, scratch)
        cluster.keep()
        return measure(few, full, scratch, redis_url)


def prepare(few: str, full: str, scratch: str) -> None:
    """Migrate and fill both databases; one that is filled already stays."""
    for url, rows in ((few, "0"), (full, os.environ.get("BENCH_ROWS", "1000000"))):
        _manage(url, scratch, "migrate")
        _bench("fill", url, scratch, BENCH_ROWS=rows)


def measure(few: str, full: str, scratch: str, redis_url: str) -> int:
    _manage(full, scratch, "collectstatic", "--no-input")
    counts = f"{scratch}/counts.json"
    server = {"REDIS_URL": redis_url, "BENCH_COUNTS": counts, "ATRIBUTO_PORT": str(free_port())}
    _bench("count", few, scratch, **server)
    return _bench("measure", full, scratch, **server)


def _manage(url: str, scratch: str, *arguments: str) -> None:
    command = [sys.executable, "manage.py", *arguments, "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=_environment(url, scratch), check=True)


def _bench(verb: str, url: str, scratch: str, **more: str) -> int:
    command = [sys.executable, "-m", "bench.parts.screens", verb]
    environment = {**_environment(url, scratch), **more}
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def _environment(url: str, scratch: str) -> dict[str, str]:
    return {
        **os.environ,
        "ATRIBUTO_ENV": "local",
        "ATRIBUTO_VAR_DIR": scratch,
        "ATRIBUTO_LOG_LEVEL": "ERROR",
        "ATRIBUTO_STREAMS_PER_USER": "400",
        "ATRIBUTO_STATEMENT_TIMEOUT_MS": "300000",
        "DATABASE_URL": url,
    }


if __name__ == "__main__":
    sys.exit(main())
