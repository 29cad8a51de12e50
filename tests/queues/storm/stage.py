"""The stage of a storm: servers of its own, a database made ready, processes by name."""

import os
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

from tests.servers.postgres.server import PostgresCluster
from tests.servers.process import ManagedProcess
from tests.servers.valkey import ValkeyServer

SERVICES = Path(__file__).parents[1] / "services"
QUICK = {
    "ATRIBUTO_WORKER_LEASE_MS": "1500",
    "ATRIBUTO_WORKER_HEARTBEAT_MS": "200",
    "ATRIBUTO_CURATOR_HEARTBEAT_TIMEOUT_MS": "1500",
    "ATRIBUTO_CURATOR_INACTIVITY_DELAY_MS": "300",
}


class Stage:
    def __init__(self, database, settings=QUICK, concurrency=1):
        self.database, self.settings = database, settings
        self.concurrency = concurrency
        self.processes = []
        self._serial = 0

    def __enter__(self):
        with ExitStack() as opening:
            self.folder = opening.enter_context(tempfile.TemporaryDirectory())
            self.valkey = opening.enter_context(ValkeyServer())
            self.postgres = None
            if self.database == "postgresql":
                self.postgres = opening.enter_context(PostgresCluster())
            opening.callback(self._end_processes)
            os.environ.update(self._environment())
            self._prepare()
            self._closing = opening.pop_all()
        return self

    def __exit__(self, *error):
        from django.db import connections

        connections.close_all()
        self._closing.close()

    def worker(self):
        self._serial += 1
        several = ["--concurrency", str(self.concurrency)] if self.concurrency > 1 else []
        return self._started("worker", "--name", f"w{self._serial}", *several)

    def curator(self):
        return self._started("run_curator")

    def web(self):
        return self._started("web")

    def children_of(self, process):
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(process.pid).children()
        return []

    def _started(self, *words):
        process = ManagedProcess(words, dict(os.environ))
        self.processes.append(process)
        return process

    def _end_processes(self):
        for process in reversed(self.processes):
            process.close()

    def _environment(self):
        sqlite = f"sqlite:///{self.folder}/storm.sqlite3"
        return {
            **self.settings,
            "DATABASE_URL": self.postgres.url() if self.postgres else sqlite,
            "REDIS_URL": self.valkey.url,
            "ATRIBUTO_ENV": "test",
            "ATRIBUTO_LOG_LEVEL": "WARNING",
            "ATRIBUTO_VAR_DIR": self.folder,
            "ATRIBUTO_SERVICE_ROOTS": str(SERVICES),
            "DJANGO_SETTINGS_MODULE": "atributo_site.settings",
        }

    def _prepare(self):
        import django

        django.setup()
        from django.core.management import call_command

        from queues.services import installation

        call_command("migrate", verbosity=0)
        installation.install("probe", "/probe", setup=False)
