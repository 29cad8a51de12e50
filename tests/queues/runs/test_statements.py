"""What is prepared stays so: a roll back forgets neither our statements nor those of others."""

import pytest
from django.db import connection
from django.db.transaction import atomic

from atributo_site.core.database import hot_cursor

pytestmark = [pytest.mark.only_on("postgresql"), pytest.mark.django_db(transaction=True)]


def prepared():
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pg_prepared_statements WHERE statement LIKE '%%''here'''")
        return cursor.fetchall()


def test_a_roll_back_keeps_prepared_statements():
    with connection.cursor() as cursor:
        cursor.execute("PREPARE somebody_elses AS SELECT 'here'")
    with pytest.raises(ZeroDivisionError), atomic():
        with hot_cursor() as cursor:
            cursor.execute("SELECT %s::int, 'here'", [1])
        raise ZeroDivisionError
    with hot_cursor() as cursor:
        cursor.execute("SELECT %s::int, 'here'", [2])
        assert cursor.fetchone() == (2, "here")
    assert len(prepared()) == 2
