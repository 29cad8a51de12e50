"""Measure the lists of instances and allocations on both databases: first byte and queries.

10,000 instances and 1,000,000 allocations; BENCH_ROWS sets another number of allocations. A real
server answers a real socket, to a person who has logged in.
"""

import subprocess
import sys
import tempfile

from bench.allocation import ROOT, environment
from tests.servers.postgres import server


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        print("SQLite", flush=True)
        ended = measure(f"sqlite:///{folder}/lists.sqlite3", folder)
        with server.PostgresCluster() as cluster:
            print("PostgreSQL", flush=True)
            return max(ended, measure(cluster.create_database("lists"), folder))


def measure(database_url: str, folder: str) -> int:
    command = [sys.executable, "-m", "bench.parts.lists"]
    return subprocess.run(command, cwd=ROOT, env=environment(database_url, folder)).returncode


if __name__ == "__main__":
    sys.exit(main())
