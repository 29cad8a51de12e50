"""Hot statements run the same on both databases, and stay prepared on PostgreSQL."""

from datetime import UTC

import pytest
from django.db import DataError, IntegrityError, connection
from django.db.backends.postgresql.psycopg_any import IsolationLevel, register_tzloader
from django.db.transaction import TransactionManagementError, atomic, set_rollback

from atributo_site.core.availability.patience import in_a_hurry
from atributo_site.core.database import (
    Result,
    dialect,
    execute,
    execute_in_turn,
    execute_together,
    in_index_order,
)
from atributo_site.core.models import Event
from atributo_site.core.postgresql import base, libpq

pytestmark = pytest.mark.django_db(transaction=True)
BOTH = "SELECT CAST(%(a)s AS int) + CAST(%(b)s AS int), CAST(%(a)s AS int) %% 2"


def test_a_parameter_may_be_named_twice_and_others_are_ignored():
    assert execute(BOTH, {"a": 3, "b": 4, "c": "not asked for"}).rows == [(7, 1)]


def test_the_result_of_several_is_that_of_the_last():
    result = execute_together([BOTH, "SELECT 5"], {"a": 1, "b": 1})
    assert (result.rows, result.first) == ([(5,)], (5,))


@pytest.fixture
def rows():
    """Make a table of our own: only SELECT, INSERT, UPDATE and DELETE can be prepared."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE some_rows (n int CHECK (n < 9))")
        yield
        cursor.execute("DROP TABLE some_rows")


def test_changed_rows_are_counted_without_being_returned(rows):
    assert execute("INSERT INTO some_rows VALUES (1), (2)", {}) == Result([], 2)
    changed = execute("UPDATE some_rows SET n = n + %(by)s WHERE n > 1 RETURNING n", {"by": 3})
    assert changed == Result([(5,)], 1)
    assert execute("DELETE FROM some_rows WHERE n > 7", {}) == Result([], 0)


def test_several_statements_happen_together_or_not_at_all(rows):
    add = "INSERT INTO some_rows VALUES (%(n)s)"
    with pytest.raises(IntegrityError):
        execute_together([add, "INSERT INTO some_rows VALUES (%(n)s + 1)"], {"n": 8})
    assert execute("SELECT n FROM some_rows", {}).rows == []


@pytest.mark.only_on("postgresql")
def test_a_roll_back_keeps_what_is_prepared():
    with connection.cursor() as cursor:
        cursor.execute("PREPARE somebody_elses AS SELECT 'here'")
    with pytest.raises(ZeroDivisionError), atomic():
        execute("SELECT CAST(%(n)s AS int), 'here'", {"n": 1})
        raise ZeroDivisionError
    assert execute("SELECT CAST(%(n)s AS int), 'here'", {"n": 2}).first == (2, "here")
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pg_prepared_statements WHERE statement LIKE '%%''here'''")
        assert len(cursor.fetchall()) == 2


@pytest.mark.only_on("postgresql")
def test_a_text_with_nul_is_refused_and_never_cut(rows):
    with pytest.raises(DataError, match="NUL"):
        execute("SELECT CAST(%(text)s AS text)", {"text": "a\0b"})


@pytest.mark.only_on("postgresql")
def test_a_statement_joins_the_transaction_that_is_open(rows):
    with pytest.raises(ZeroDivisionError), atomic():
        execute("INSERT INTO some_rows VALUES (%(n)s)", {"n": 1})
        execute("INSERT INTO some_rows VALUES (%(n)s)", {"n": 2})
        raise ZeroDivisionError
    assert execute("SELECT n FROM some_rows", {}).rows == []


def test_nothing_runs_in_a_transaction_that_has_failed(rows):
    with atomic():
        set_rollback(True)
        with pytest.raises(TransactionManagementError):
            execute("INSERT INTO some_rows VALUES (%(n)s)", {"n": 1})


@pytest.mark.only_on("postgresql")
def test_choices_of_a_model_are_plain_texts():
    """Otherwise an allocation, which names its channel, would take the slower way."""
    assert libpq.as_texts([Event.Channel.REST, 2, None, 1.5]) == [b"rest", b"2", None, b"1.5"]


@pytest.mark.only_on("postgresql")
def test_what_fails_only_at_the_commit_is_raised():
    """The answer to the statement comes before; nothing of it is stored."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE once (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    insert = "INSERT INTO once VALUES (%(n)s) RETURNING n"
    assert execute(insert, {"n": 1}).rows == [(1,)]
    with pytest.raises(IntegrityError):
        execute(insert, {"n": 1})
    assert execute("SELECT count(*) FROM once", {}).rows == [(1,)]


@pytest.mark.parametrize("run", [execute, lambda text, given: execute_together([text], given)])
def test_a_text_longer_than_the_socket_takes_at_once_is_sent_whole(run):
    """PostgreSQL's client sends what fits; nobody may wait for the answer before it is all sent."""
    length = 20 * 1024 * 1024
    given = {"text": "x" * length}
    assert run("SELECT length(CAST(%(text)s AS text))", given).first == (length,)


def test_statements_in_turn_give_the_result_of_the_last(rows):
    add, ask = "INSERT INTO some_rows VALUES (%(n)s)", "SELECT n + 1 FROM some_rows"
    two = [[add, "DELETE FROM some_rows WHERE n = 2"], [ask]]
    assert execute_in_turn(two, {"n": 1}).rows == [(2,)]


def test_a_transaction_in_turn_stays_when_a_later_one_fails(rows):
    add, fail = "INSERT INTO some_rows VALUES (%(n)s)", "INSERT INTO some_rows VALUES (%(n)s + 1)"
    with pytest.raises(IntegrityError):
        execute_in_turn([[add], [add, fail]], {"n": 8})
    assert execute("SELECT n FROM some_rows", {}).rows == [(8,)]


def test_statements_in_turn_are_part_of_the_transaction_that_is_open(rows):
    add = "INSERT INTO some_rows VALUES (%(n)s)"
    with pytest.raises(ZeroDivisionError), atomic():
        execute_in_turn([[add], [add]], {"n": 1})
        raise ZeroDivisionError
    assert execute("SELECT n FROM some_rows", {}).rows == []


@pytest.mark.only_on("postgresql")
def test_statements_in_turn_are_one_round_trip(rows, monkeypatch):
    sent = []
    run = libpq.run_in_turn
    monkeypatch.setattr(libpq, "run_in_turn", lambda *given: [sent.append(1), run(*given)][1])
    add = "INSERT INTO some_rows VALUES (%(n)s)"
    execute_in_turn([[add, add], ["SELECT n FROM some_rows"]], {"n": 1})
    assert sent == [1]


@pytest.mark.only_on("postgresql")
def test_a_transaction_begins_with_the_message_of_its_first_statement(rows, monkeypatch):
    sent, run = [], libpq.run_in_turn
    add, count = "INSERT INTO some_rows VALUES (%(n)s)", "SELECT count(*) FROM some_rows"
    for statement in (add, count):
        execute(statement, {"n": 1})  # prepared from now on
    monkeypatch.setattr(libpq, "run_in_turn", lambda *given: [sent.append(given), run(*given)][1])
    with pytest.raises(ZeroDivisionError), atomic():
        execute(add, {"n": 2})
        assert execute(count, {}).first == (2,)
        raise ZeroDivisionError
    assert len(sent) == 1
    with pytest.raises(IntegrityError), atomic():
        execute(add, {"n": 9})
    assert execute(count, {}).first == (1,)


@pytest.mark.only_on("postgresql")
def test_a_transaction_of_another_isolation_begins_as_psycopg_says():
    connection.ensure_connection()
    connection.connection.isolation_level = IsolationLevel.SERIALIZABLE
    with atomic():
        isolation = execute("SELECT current_setting('transaction_isolation')", {}).first
    connection.close()
    assert isolation == ("serializable",)


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize("text", ["2026-11-19 04:44:54.2+00", "0001-01-01 00:00:00+00"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
def test_moments_are_read_as_django_reads_them(text, zone):
    with connection.cursor() as cursor, atomic():
        cursor.execute(f"SET LOCAL TIME ZONE '{zone}'")
        cursor.execute("SELECT CAST(%s AS timestamptz)", [text])
        ((read,),) = cursor.fetchall()
        register_tzloader(connection.timezone, cursor)
        cursor.execute("SELECT CAST(%s AS timestamptz)", [text])
        assert (read, read.tzinfo) == (cursor.fetchone()[0], UTC)


@pytest.mark.only_on("postgresql")
def test_a_moment_that_python_does_not_know_is_refused_as_before():
    with pytest.raises(DataError):
        execute("SELECT CAST('infinity' AS timestamptz)", {})


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize(("seconds", "times"), [(float("inf"), 1), (-1, 3)])
def test_requests_ask_for_the_health_of_the_server_now_and_then(monkeypatch, seconds, times):
    asked = []
    connection.close()
    connection.ensure_connection()
    monkeypatch.setattr(base, "HEALTHY_SECONDS", seconds)
    monkeypatch.setattr(connection, "health_check_enabled", True)
    monkeypatch.setattr(connection, "is_usable", lambda: [asked.append(1)] != [])
    for _ in range(3):
        connection.close_if_unusable_or_obsolete()  # a request begins
        assert [execute("SELECT 1", {}).first for _ in range(2)] == [(1,), (1,)]
    assert len(asked) == times


@pytest.mark.only_on("postgresql")
def test_a_request_that_ends_leaves_the_limit_of_waits_to_the_next_statement(monkeypatch):
    told, tell = [], base.DatabaseWrapper._limit_lock_waits
    monkeypatch.setattr(
        base.DatabaseWrapper,
        "_limit_lock_waits",
        lambda self, milliseconds: [told.append(milliseconds), tell(self, milliseconds)],
    )
    limit = "SELECT current_setting('lock_timeout')"
    for _ in range(2):
        with in_a_hurry(700):
            assert execute(limit, {}).first == ("700ms",)
        connection.close_if_unusable_or_obsolete()
    assert told == [700]
    assert execute(limit, {}).first != ("700ms",)


@pytest.mark.only_on("postgresql")
def test_what_has_an_index_in_order_is_never_sorted_and_all_else_may_be(transactional_db):
    setting = "SELECT current_setting('enable_sort')"
    found = execute_together(in_index_order(dialect(), setting), {})
    assert (found.rows, execute(setting, {}).rows) == ([("off",)], [("on",)])
