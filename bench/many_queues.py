"""Measure a thousand queues, and what commands take beside 400,000 waiting jobs.

    python -m bench.many_queues               both databases
    python -m bench.many_queues sqlite        one of them
    BENCH_QUEUES=100 BENCH_WAITING=10000      a quick look

A real curator and a real worker do the work. It fails when making the queues takes more than 5
seconds, the idle curator more than 2 % of a core, a worker drains fewer than 1,000 jobs per
second (five in each queue), or a command beside the waiting jobs needs more than a second.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.allocation import environment
from tests.servers.postgres.server import PostgresCluster
from tests.servers.valkey import ValkeyServer

ROOT = Path(__file__).resolve().parent.parent


def main(wanted: list[str]) -> int:
    ended = []
    with tempfile.TemporaryDirectory() as folder, ValkeyServer() as valkey:
        if "sqlite" in (wanted or ["sqlite"]):
            ended.append(measure(f"sqlite:///{folder}/ours.sqlite3", folder, valkey.url))
        if "postgresql" in (wanted or ["postgresql"]):
            with PostgresCluster() as cluster:
                ended.append(measure(cluster.create_database("ours"), folder, valkey.url))
    return max(ended)


def measure(database_url: str, folder: str, redis_url: str) -> int:
    settings = {
        **os.environ,
        **environment(database_url, folder),
        "REDIS_URL": redis_url,
        "ATRIBUTO_LOG_LEVEL": "ERROR",
        "ATRIBUTO_SERVICE_ROOTS": str(ROOT / "bench" / "parts_of_queues"),
        "DJANGO_SETTINGS_MODULE": "atributo_site.settings",
    }
    command = [sys.executable, "-m", "bench.parts.many_queues"]
    return subprocess.run(command, cwd=ROOT, env=settings).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
