"""Run servers of Debian's packages for a test, each in a folder and on a port of its own."""

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from tests.servers.ports import free_port

PACKAGES = {"nginx": "nginx-light", "haproxy": "haproxy", "knotd": "knot"}
PATIENCE_SECONDS = 60


def program(name):
    """Return the path of a server; install its package if it is missing."""
    path = os.environ["PATH"] + ":/usr/sbin"
    if shutil.which(name, path=path) is None:
        command = ["apt-get", "install", "-y", "--no-install-recommends", PACKAGES[name]]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, timeout=600)
    return shutil.which(name, path=path)


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


KNOT = """
server:
    listen: 127.0.0.1@{port}
    rundir: {folder}
database:
    storage: {folder}
zone:
  - domain: example
    storage: {folder}
    file: zone
    zonefile-sync: -1
"""


@contextmanager
def knot(folder: Path, names):
    folder.mkdir()
    port = free_port()
    config = folder / "knot.conf"
    config.write_text(KNOT.format(port=port, folder=folder))
    lines = ["@ 60 SOA ns admin 1 60 60 60 60", "@ 60 NS ns", "ns 60 A 127.0.0.1"]
    lines += [f"n{i} 60 A 10.0.{i // 250}.{i % 250}" for i in range(names)]
    (folder / "zone").write_text("$ORIGIN example.\n" + "\n".join(lines) + "\n")
    with running([program("knotd"), "-c", str(config)], port) as server:
        yield server
