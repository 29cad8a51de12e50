"""Hot statements run the same on both databases, and stay prepared on PostgreSQL."""

import pytest
from django.db import IntegrityError, connection
from django.db.transaction import atomic

from atributo_site.core.database import Result, execute, execute_together

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
