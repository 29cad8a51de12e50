"""Compare placements with a bare prepared INSERT of the same durability, in the same run.

    python -m bench.placement_limit sqlite       one database

It fails when one client places less than 60 % of what the INSERT does, a batch less than 90 % of a
transaction of such INSERTs, or when a choice among 10,000 instances takes more than a millisecond
of the processor. BENCH_ROUNDS and BENCH_SECONDS make it longer and steadier.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.allocation import DURABLE, environment
from tests.servers.postgres import server

ROOT = Path(__file__).resolve().parent.parent


def main(wanted: list[str]) -> int:
    ended = []
    with tempfile.TemporaryDirectory() as folder:
        if "sqlite" in (wanted or ["sqlite"]):
            ended.append(measure(f"sqlite:///{folder}/ours.sqlite3", folder))
        if "postgresql" in (wanted or ["postgresql"]):
            server.SETTINGS.update(DURABLE)
            with server.PostgresCluster() as cluster:
                ended.append(measure(cluster.create_database("ours"), folder))
    return max(ended)


def measure(database_url: str, folder: str) -> int:
    settings = environment(database_url, folder)
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=settings, check=True)
    command = [sys.executable, "-m", "bench.parts.placement_limit", folder]
    return subprocess.run(command, cwd=ROOT, env=settings).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
