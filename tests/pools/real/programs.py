"""Run servers of Debian's packages for a test, each in a folder and on a port of its own."""

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers.ports import free_port

PACKAGES = {
    "nginx": "nginx-light",
    "haproxy": "haproxy",
    "knotd": "knot",
    "named": "bind9",
    "unbound": "unbound",
    "dnsmasq": "dnsmasq-base",
    "dig": "bind9-dnsutils",
}
PATIENCE_SECONDS = 60


def program(name):
    """Return the path of a program; skip the test, and say what is missing, if there is none."""
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
    if path is None:
        pytest.skip(f"{name} is missing: apt-get install {PACKAGES[name]}")
    return path


class Running:
    """A server process that can be killed and started again on the same port."""

    def __init__(self, command, port):
        self.port = port
        self._command = command
        self._process = None

    def start(self):
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._command, stdout=quiet, stderr=quiet, start_new_session=True
        )
        ends_at = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < ends_at:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                assert self._process.poll() is None, f"{self._command[0]} did not start"
                time.sleep(0.01)
        raise AssertionError(f"{self._command[0]} does not listen")

    def kill(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@contextmanager
def running(command, port):
    server = Running(command, port).start()
    try:
        yield server
    finally:
        server.kill()


NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 1024; }}
http {{
  access_log off; {options}
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{port}; location / {{ return 200 "$arg_id"; }} }}
}}
"""


@contextmanager
def nginx(folder: Path, options=""):
    folder.mkdir()
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, port=port, options=options))
    with running([program("nginx"), "-p", str(folder), "-c", str(config)], port) as server:
        yield server


HAPROXY = """
defaults
  mode http
  timeout connect 1s
  timeout client {limit}
  timeout server 5s
  timeout http-request {limit}
  timeout http-keep-alive {limit}
frontend web
  bind 127.0.0.1:{port}
  http-request return status 200 content-type text/plain string ok
"""


@contextmanager
def haproxy(folder: Path, limit):
    folder.mkdir()
    port = free_port()
    config = folder / "haproxy.cfg"
    config.write_text(HAPROXY.format(port=port, limit=limit))
    with running([program("haproxy"), "-f", str(config)], port) as server:
        yield server
