"""Run a private PostgreSQL cluster on a Unix socket; started by root, it runs as nobody."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg
from psycopg import sql

from tests.servers.guard import Guard
from tests.servers.postgres.binaries import (
    copied_tree,
    find_postgres_binaries,
    readable_by_everybody,
)
from tests.servers.waiting import wait_until

USER = "atributo"
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0777",  # the folder is what keeps others out
    "max_connections": 200,
    "shared_buffers": "32MB",
    "fsync": "off",  # commits survive a crash of the server, but not one of the machine
    "full_page_writes": "off",
    "timezone": "UTC",
}
STOP_SIGNALS = {
    "smart": signal.SIGTERM,
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
}


class PostgresCluster:
    def __init__(self, binaries=None):
        self._binaries = Path(binaries or find_postgres_binaries())
        self._process = None

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="atributo-postgres-"))
        self._guard = Guard(self.directory, signal="QUIT")
        try:
            self._prepare()
            self.start()
        except BaseException:
            self._guard.close()
            raise
        return self

    def __exit__(self, *error):
        self.stop("immediate")
        self._guard.close()

    def url(self, database="postgres"):
        return f"postgresql://{USER}@/{database}?host={self.directory}"

    @property
    def pid(self):
        return self._process.pid

    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def start(self):
        options = [f"--{name}={value}" for name, value in SETTINGS.items()]
        with open(self.directory / "log", "ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self._data, "-k", self.directory, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                start_new_session=True,
                **unprivileged(),
            )
        self._guard.watch(self._process)
        wait_until(self._answers_or_died, 60, "PostgreSQL did not answer")
        if not self.is_running():
            raise RuntimeError(f"PostgreSQL did not start:\n{self.log()}")

    def stop(self, mode="fast"):
        """Stop in one of PostgreSQL's modes: smart waits for clients, immediate is a crash."""
        if self.is_running():
            self._process.send_signal(STOP_SIGNALS[mode])
            self._process.wait(60)
        self._guard.forget()

    def restart(self, mode="immediate"):
        self.stop(mode)
        self.start()

    def create_database(self, name):
        """Create an empty database and return its URL."""
        self._execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def drop_database(self, name):
        """Drop a database, and the connections to it."""
        self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def log(self):
        return (self.directory / "log").read_text()

    def _prepare(self):
        self._data = self.directory / "data"
        if os.geteuid() == 0:
            self._make_readable()
            shutil.chown(self.directory, **owner())
        command = [self._binaries / "initdb", "-D", self._data, "-U", USER, "-A", "trust"]
        command += ["-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        made = subprocess.run(
            command, capture_output=True, text=True, cwd=self.directory, **unprivileged()
        )
        if made.returncode:
            raise RuntimeError(f"initdb failed:\n{made.stdout}{made.stderr}")

    def _make_readable(self):
        if not readable_by_everybody(self._binaries):
            self._binaries = copied_tree(self._binaries, self.directory / "programs")

    def _answers_or_died(self):
        if not self.is_running():
            return True
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _execute(self, statement):
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement)


def owner():
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid}


def unprivileged():
    """Return what makes subprocess run as nobody; PostgreSQL refuses to run as root."""
    return {**owner(), "extra_groups": []} if os.geteuid() == 0 else {}
