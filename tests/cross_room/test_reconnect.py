"""A program without requests loses its connection; its next call opens another."""

import os
import select
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, connections
from django.db.transaction import atomic, on_commit

import queues
from allocation.atributo import Atributo
from allocation.job_ids.ids import get_job_id, get_job_ids
from allocation.transactions import Client, Curator, Transaction
from atributo_site.config import databases
from atributo_site.core.errors import ConnectionLost
from atributo_site.core.event_cursor import events_after, newest_cursor
from atributo_site.core.models.clock import database_now
from atributo_site.core.presence import Presence
from tests.fixtures.wire import OTHERS, asked

pytestmark = pytest.mark.django_db(transaction=True)
ACT = {"mount": "/probe", "name": "act"}


def transact():
    with Transaction(wait=1) as txn:
        txn.put("c", "k", {"v": 2})
        txn.lock("c", "free")


def transact_in_steps():
    """Take each step over a connection that was lost since the last one."""
    txn = Transaction()
    yield
    txn.put("c", "k", {"v": 2})
    yield
    txn.renew()
    yield
    txn.complete()


presence = Presence("program", "p", seconds=30, beat_seconds=1)
CALLS = {
    "put": lambda: Client().put("c", "k", {"v": 1}).raise_for_status(),
    "get": lambda: Client().get("c", "k").raise_for_status(),
    "list": lambda: Client().list("c").all(),
    "transaction": transact,
    "allocate": lambda: Atributo().allocate("job"),
    "allocate many": lambda: Atributo().allocate_many(["job", "another"]),
    "instance": lambda: Atributo().instance("job"),
    "deallocate": lambda: Atributo().deallocate("job"),
    "push": lambda: queues.get("work").push(ACT, {}),
    "push many": lambda: queues.get("work").push_many(ACT, [{}, {}]),
    "pending": lambda: queues.get("work").pending(),
    "job id": get_job_id,
    "job ids": lambda: get_job_ids(3),
    "presence": lambda: presence.step(None),
    "clock": database_now,
    "events": lambda: events_after(newest_cursor(), 10),
    "curator": lambda: Curator(name="c").step(database_now()),
}


def all_calls():
    for call in CALLS.values():
        call()


@pytest.fixture
def site(probe):
    queues.create("work")
    Atributo().available("a")


def terminated(wire):
    asked(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {OTHERS}")


def timed_out(wire):
    """Let PostgreSQL close the connection because the program was idle for too long."""

    def be_idle():
        with connection.cursor() as cursor:
            cursor.execute("SET idle_session_timeout = 1")
        assert select.select([connection.connection.pgconn.socket], [], [], 60)[0]

    wire.does(be_idle)


def cut(wire):
    wire.cut()


def closed(wire):
    wire.does(lambda: connection.close())


def closed_below(wire):
    wire.does(lambda: connection.connection.close())


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize("lose", [terminated, timed_out, cut, closed, closed_below])
def test_each_call_of_a_program_opens_another_connection(wire, site, lose):
    wire.does(all_calls)
    for call in CALLS.values():
        lose(wire)
        wire.does(call)


@pytest.mark.only_on("postgresql")
def test_a_transaction_goes_on_over_one_connection_after_the_other(wire, site):
    steps = transact_in_steps()
    for _ in range(4):
        wire.does(lambda: next(steps, None))
        wire.cut()
    assert Client().get("c", "k").json == {"v": 2}


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize("call", ["get", "list", "instance", "pending", "clock", "events"])
@pytest.mark.parametrize("lose", ["lose_the_answer", "lose_the_question"])
def test_a_read_that_is_cut_off_is_asked_once_more(wire, site, call, lose):
    wire.does(all_calls)
    assert getattr(wire, lose)(CALLS[call]).exception(60) is None


@pytest.mark.only_on("postgresql")
def test_a_transaction_of_the_callers_own_cannot_be_saved_but_the_next_call_can(wire, site):
    def together():
        with atomic():
            Client().put("c", "k", {"v": 9})
            wire.cut()
            Atributo().allocate("job")

    wire.does(all_calls)
    told = wire.told(together)
    assert isinstance(told, ConnectionLost) and not told.in_doubt
    assert "nothing of the transaction is written" in str(told)
    wire.does(all_calls)


@pytest.mark.only_on("postgresql")
def test_a_database_that_is_away_is_said_and_comes_back(wire, site, hurry):
    hurry()
    wire.does(all_calls)
    wire.proxy.mode = "cut"
    for call in CALLS.values():
        told = wire.told(call)
        assert isinstance(told, OperationalError), told
        assert getattr(told, "in_doubt", False) is False
    wire.proxy.mode = "pass"
    wire.does(all_calls)


def test_a_connection_that_the_program_closed_is_opened_again(site):
    all_calls()
    for call in CALLS.values():
        connection.close()
        call()


def test_a_forked_child_leaves_the_connection_to_its_parent(site):
    all_calls()
    raw = connection.connection
    child = os.fork()
    if child == 0:
        code = 1
        try:
            all_calls() if connection.vendor == "postgresql" else CALLS["get"]()
            connections.close_all()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    all_calls()
    assert connection.connection is raw


@pytest.mark.only_on("postgresql")
def test_a_child_that_was_forked_in_a_transaction_has_a_connection_of_its_own(site):
    """It is not part of the transaction, whose roll back and hooks are its parent's."""
    rung = []
    with pytest.raises(ZeroDivisionError), atomic():
        on_commit(lambda: rung.append("parent"))
        Client().put("c", "of the parent", 1)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                Client().put("c", "of the child", 2).raise_for_status()
                code = int(Client().get("c", "of the parent").status_code != 404)
                connections.close_all()
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        raise ZeroDivisionError
    assert Client().get("c", "of the child").json == 2
    assert Client().get("c", "of the parent").status_code == 404
    assert rung == []


@pytest.mark.only_on("postgresql")
def test_a_child_that_leaves_its_parents_block_runs_none_of_its_hooks(site):
    read, write = os.pipe()
    block = atomic()
    block.__enter__()
    on_commit(lambda: os.write(write, b"rung"))
    child = os.fork()
    if child == 0:
        try:
            block.__exit__(None, None, None)
            os.write(write, b"left")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100) == b"left"
    block.__exit__(None, None, None)
    assert os.read(read, 100) == b"rung"


@pytest.mark.only_on("postgresql")
def test_a_program_outlives_restarts_of_postgresql(postgres, site, settings):
    ours = connections.settings["default"]
    env = replace(settings.ATRIBUTO, database_url=postgres.create_database("program"))
    entry = databases.configured(env, settings.VAR_DIR)
    connections.settings["default"] = connections.configure_settings({"default": entry})["default"]
    before = connections["default"]
    connections["default"] = connections.create_connection("default")
    try:
        call_command("migrate", verbosity=0)
        client = Client()
        for mode in ("fast", "immediate"):
            client.put("c", "k", {"v": mode}).raise_for_status()
            Atributo().available(mode)
            postgres.restart(mode)
            assert client.get("c", "k").json == {"v": mode}
            postgres.restart(mode)
            Atributo().allocate(mode)
            postgres.restart(mode)
            transact()
    finally:
        connections["default"].close()
        connections.settings["default"], connections["default"] = ours, before
