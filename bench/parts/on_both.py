"""Run a part of a bench on SQLite and on PostgreSQL, each in a fresh database that is migrated."""

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.allocation import environment
from tests.servers.postgres.server import PostgresCluster

ROOT = Path(__file__).resolve().parents[2]


def run_on_both(part: str, wanted: list[str], **settings: str) -> int:
    """Return the worst exit code; `wanted` names one database, or none for both."""
    ended = []
    with tempfile.TemporaryDirectory() as folder:
        if "sqlite" in (wanted or ["sqlite"]):
            ended.append(_run(part, f"sqlite:///{folder}/ours.sqlite3", folder, settings))
        if "postgresql" in (wanted or ["postgresql"]):
            with PostgresCluster() as cluster:
                ended.append(_run(part, cluster.create_database("ours"), folder, settings))
    return max(ended)


def _run(part: str, database_url: str, folder: str, more: dict[str, str]) -> int:
    settings = {**environment(database_url, folder), "ATRIBUTO_LOG_LEVEL": "ERROR", **more}
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=settings, check=True)
    command = [sys.executable, "-m", f"bench.parts.{part}"]
    return subprocess.run(command, cwd=ROOT, env=settings).returncode
