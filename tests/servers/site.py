"""Run a whole site: `manage.py up` with a state folder of its own."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from atributo_site.config.places import BASE_DIR
from tests.servers.ports import free_port
from tests.servers.waiting import wait_until

PASSWORD = "correct-horse-battery"
CHILDREN = {
    "web": "manage.py web",
    "worker": "manage.py worker",
    "curator": "manage.py run_curator",
    "valkey": "valkey-server",
}


class Site:
    """A running `manage.py up` with a state folder of its own."""

    def __init__(self, folder: Path, prepared: Path | None = None, **environ: str) -> None:
        self.var, self.port, self.log = folder / "var", free_port(), folder / "up.log"
        self.address = f"http://127.0.0.1:{self.port}"
        folder.mkdir(parents=True, exist_ok=True)
        if prepared:  # tables and static files as an earlier start left them
            shutil.copytree(prepared, self.var, ignore=shutil.ignore_patterns("*.sock"))
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ATRIBUTO_", "PYTEST"))}
        self.environ = kept | {
            "ATRIBUTO_VAR_DIR": str(self.var),
            "ATRIBUTO_PORT": str(self.port),
            "ATRIBUTO_ADMIN_PASSWORD": PASSWORD,
            "ATRIBUTO_WORKERS": "1",
            "ATRIBUTO_WORKER_LEASE_MS": "2000",
            "ATRIBUTO_WORKER_HEARTBEAT_MS": "200",
            "DATABASE_URL": "",
            "REDIS_URL": "",
            **environ,
        }

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), env=self.environ, stdout=log, stderr=log
            )
        wait_until(lambda: "Atributo runs at" in self.said() or self.process.poll(), 180)
        assert self.process.poll() is None, self.said()

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(BASE_DIR / "manage.py"), "up", *arguments]

    def check(self) -> subprocess.CompletedProcess[str]:
        """Start it, wait until it answers, stop it."""
        return subprocess.run(
            self.command("--check"), env=self.environ, capture_output=True, text=True, timeout=180
        )

    def said(self) -> str:
        return self.log.read_text()

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def ready(self) -> dict[str, str]:
        return json.loads(self.get("/readyz")[1])

    def children(self) -> dict[str, psutil.Process]:
        """Map names to processes, by the words of their command lines."""
        lines = {_command_line(each): each for each in psutil.Process(self.process.pid).children()}
        return {
            name: process
            for line, process in lines.items()
            for name, words in CHILDREN.items()
            if words in line
        }

    def metrics(self) -> str:
        return self.get("/metrics")[1]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it ended a moment ago
        return ""
