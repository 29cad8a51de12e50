"""Measure roll backs, large and small ones beside each other, and a hot key, on both databases.

    python -m bench.roll_backs sqlite       one database
    BENCH_KEYS=2000                         a quick look

It fails when a program rolls back fewer than 1,000 keys per second, when a real curator takes more
than 10 seconds for a transaction of 10,000 keys or lets a small one wait behind it for more than 2
seconds, when it ends fewer than 300 expired transactions per second, or when one of eight programs
that change the same key waits for it longer than 200 ms at the 99th percentile.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.allocation import environment
from tests.servers.postgres.server import PostgresCluster

ROOT = Path(__file__).resolve().parent.parent
LONG_LIFE = {"ATRIBUTO_MAX_JOB_TIME_MS": "300000", "ATRIBUTO_MAX_JOB_LIMIT_MS": "600000"}


def main(wanted: list[str]) -> int:
    ended = []
    with tempfile.TemporaryDirectory() as folder:
        if "sqlite" in (wanted or ["sqlite"]):
            ended.append(measure(f"sqlite:///{folder}/ours.sqlite3", folder))
        if "postgresql" in (wanted or ["postgresql"]):
            with PostgresCluster() as cluster:
                ended.append(measure(cluster.create_database("ours"), folder))
    return max(ended)


def measure(database_url: str, folder: str) -> int:
    settings = {
        **environment(database_url, folder),
        **LONG_LIFE,
        "ATRIBUTO_LOG_LEVEL": "ERROR",
    }
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=settings, check=True)
    command = [sys.executable, "-m", "bench.parts.roll_backs"]
    return subprocess.run(command, cwd=ROOT, env=settings).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
