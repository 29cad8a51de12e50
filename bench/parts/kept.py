"""Keep the filled databases of a PostgreSQL cluster for the next run."""

import shutil
import subprocess
from pathlib import Path

import psycopg

from tests.servers.postgres.server import PostgresCluster


class KeptCluster(PostgresCluster):
    """Work on a copy, so that a run's changes are gone the next time."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def _prepare(self) -> None:
        super()._prepare()
        if self._folder.exists():
            shutil.rmtree(self._data)
            _copy(self._folder, self._data)

    def keep(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
        _copy(self._data, self._folder)
        self.start()

    def database(self, name: str) -> str:
        with psycopg.connect(self.url()) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
            found = known.fetchone()
        return self.url(name) if found else self.create_database(name)


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)
