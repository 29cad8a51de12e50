"""`migrate` builds an index on a table with rows while others write, however long that takes."""

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, models

from atributo_site.core.events import record
from atributo_site.core.models import Event
from atributo_site.core.postgresql import pending_indexes
from atributo_site.management.commands.migrate import LOCK, patient
from atributo_site.supervisor import startup
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.only_on("postgresql"), pytest.mark.django_db(transaction=True)]
INDEX = models.Index(fields=["channel"], name="probe_of_builds")
HASTY = {"ATRIBUTO_STATEMENT_TIMEOUT_MS": "100", "ATRIBUTO_BUSY_TIMEOUT_MS": "100"}
WRITE = "INSERT INTO allocation_event (at, actor, channel, request_id, kind, subject, facts)"
WRITE += " VALUES (now(), 'a', 'b', '', 'x.y', 'x:1', '{}')"
BUILDER = """
    SELECT pid FROM pg_stat_activity
    WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'
      AND query_start < clock_timestamp() - interval '500 ms'"""


@pytest.fixture
def unbuilt():
    """Add an index as a migration does, to a table with a row."""
    record("test.kind", "test:1")
    with connection.schema_editor() as editor:
        editor.add_index(Event, INDEX)
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {INDEX.name}")
        cursor.execute(f"DROP TABLE IF EXISTS {pending_indexes.TABLE}")


@pytest.fixture
def own_connection():
    """own_connection() → another connection to the database, with short patience."""
    opened = []

    def open_one(**options):
        params = connection.get_connection_params()
        known = {key: params[key] for key in ("dbname", "user", "host") if key in params}
        opened.append(psycopg.connect(**known, options="-c lock_timeout=5000", **options))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def asked(question):
    with connection.cursor() as cursor:
        cursor.execute(question)
        return cursor.fetchall()


def is_valid():
    return asked(f"SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('{INDEX.name}')")


def test_writers_go_on_and_no_time_limit_ends_the_build(unbuilt, spawn, own_connection):
    slow, quick = own_connection(), own_connection(autocommit=True)
    slow.execute(WRITE)  # and no commit: the build waits for its end
    migrate = spawn("migrate", env=HASTY)
    wait_until(lambda: asked(BUILDER))
    quick.execute(WRITE)
    slow.commit()
    assert migrate.wait() == 0, migrate.output()
    assert is_valid() == [(True,)]
    assert asked(f"SELECT to_regclass('{pending_indexes.TABLE}')") == [(None,)]


def test_a_killed_migrate_is_repeated(unbuilt, spawn, own_connection):
    slow = own_connection()
    slow.execute(WRITE)
    migrate = spawn("migrate")
    [(pid,)] = wait_until(lambda: asked(BUILDER))
    migrate.kill()
    asked(f"SELECT pg_terminate_backend({pid}, 60000)")
    slow.commit()
    assert is_valid() == [(False,)]
    assert pending_indexes.pending(connection) == [INDEX.name]
    assert startup.migrate() is True  # as `up` does
    assert is_valid() == [(True,)]
    assert startup.migrate() is False


def test_an_index_that_a_later_migration_drops_is_not_built(unbuilt):
    with connection.schema_editor() as editor:
        editor.remove_index(Event, INDEX)
    call_command("migrate", verbosity=0)
    assert is_valid() == []


def test_an_empty_table_gets_its_index_at_once(transactional_db):
    with connection.schema_editor() as editor:
        editor.add_index(Event, INDEX)
        assert is_valid() == [(True,)]
        editor.remove_index(Event, INDEX)
    assert is_valid() == []


def test_only_one_migrate_runs_at_a_time(transactional_db, spawn, own_connection):
    other = own_connection(autocommit=True)
    other.execute(f"SELECT pg_advisory_lock({LOCK})")
    migrate = spawn("migrate")
    migrate.wait_for_line("Another migrate runs")
    other.close()
    assert migrate.wait() == 0


def test_requests_keep_their_limits(transactional_db):
    limits = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
    before = asked(limits)
    with patient(connection):
        assert asked(limits) == [("0", before[0][1])]
    assert asked(limits) == before
