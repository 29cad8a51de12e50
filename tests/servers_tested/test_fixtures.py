"""The fixtures keep what they promise to the tests that use them."""

import os
import signal
import socket

import psycopg
import pytest
import redis
from django.contrib.auth.models import Group, User
from django.core.cache import cache

WAIT = "print('ready', flush=True); import signal; signal.pause()"


@pytest.mark.parametrize("turn", [1, 2])
def test_redis_and_cache_are_empty_at_the_start(redis_connection, turn):
    assert redis_connection.dbsize() == 0
    assert cache.get("left") is None
    redis_connection.set("left", "behind")
    cache.set("left", "behind")


def test_redis_is_the_one_of_the_settings(redis_connection, settings):
    redis_connection.set("key", "value")
    assert redis.Redis.from_url(settings.REDIS_URL).get("key") == b"value"


def test_servers_of_a_test_are_not_the_shared_ones(valkey, postgres):
    assert valkey.url != os.environ["REDIS_URL"]
    with psycopg.connect(postgres.url()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_proxy_stands_before_valkey(valkey, tcp_proxy):
    proxy = tcp_proxy(valkey.socket_path)
    with redis.Redis(host=proxy.address, port=proxy.port) as client:
        assert client.ping()
    proxy.mode = "blackhole"
    impatient = {"socket_timeout": 0.2, "retry": None}
    with (
        redis.Redis(host=proxy.address, port=proxy.port, **impatient) as client,
        pytest.raises(redis.TimeoutError),
    ):
        client.ping()


def test_the_clock_moves_only_when_told(clock):
    before = clock.now()
    assert clock.now() == before
    assert (clock.advance(90) - before).total_seconds() == 90
    assert clock.now().utcoffset().total_seconds() == 0


def test_wait_until_returns_the_first_true_value(wait_until):
    values = iter([None, 0, "yes"])
    assert wait_until(lambda: next(values)) == "yes"


def test_wait_until_says_what_it_waited_for(wait_until):
    with pytest.raises(AssertionError, match="no rain within 0.01 s"):
        wait_until(lambda: False, 0.01, "no rain")


def test_users_have_their_role(user_as, client_as):
    assert user_as("operator").has_perm("atributo_site.operate")
    assert not user_as("viewer").has_perm("atributo_site.operate")
    assert user_as("viewer") == User.objects.get(groups=Group.objects.get(name="viewer"))
    assert "sessionid" in client_as("admin").cookies
    assert not client_as(None).cookies


def test_a_process_sees_the_rows_of_the_test(spawn, database, redis_connection):
    User.objects.create(username="ada")
    redis_connection.set("key", "value")
    process = spawn("shell", "--no-imports", "-c", READ_BACK)
    assert process.wait() == 0
    assert process.output().split() == [database, "ada", "value"]
    assert User.objects.get().username == "eve"


READ_BACK = """
import redis
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
print(connection.vendor, User.objects.get().username)
print(redis.Redis.from_url(settings.REDIS_URL).get("key").decode())
User.objects.update(username="eve")
"""


@pytest.mark.only_on("sqlite")
def test_a_process_is_terminated(spawn):
    process = spawn("shell", "--no-imports", "-c", WAIT)
    assert process.wait_for_line("read") == "ready"
    assert process.is_running()
    assert process.terminate() == -signal.SIGTERM


@pytest.mark.only_on("sqlite")
def test_a_line_that_never_comes_tells_the_output(spawn):
    process = spawn("shell", "--no-imports", "-c", "print('something else')")
    with pytest.raises(AssertionError, match="(?s)ended with 0.*something else"):
        process.wait_for_line("ready")


@pytest.mark.only_on("sqlite")
def test_extra_environment_reaches_the_process(spawn):
    code = "import os; print(os.environ['ATRIBUTO_EXTRA'])"
    process = spawn("shell", "--no-imports", "-c", code, env={"ATRIBUTO_EXTRA": "yes"})
    process.wait_for_line("yes")


@pytest.mark.only_on("sqlite")
def test_orphans_in_other_groups_are_killed_with_their_family(spawn):
    code = "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n" + WAIT
    process = spawn("shell", "--no-imports", "-c", code)
    process.wait_for_line("ready")
    process.kill()
    assert len(process.family()) == 1
    process.close()
    assert process.family() == []


@pytest.mark.only_on("sqlite")
def test_the_environment_of_processes_is_not_that_of_the_tests(process_environment):
    assert "PYTEST_CURRENT_TEST" not in process_environment
    assert process_environment["DATABASE_URL"] != os.environ["DATABASE_URL"]


def test_a_free_port_can_be_taken(free_port):
    socket.create_server(("127.0.0.1", free_port)).close()
