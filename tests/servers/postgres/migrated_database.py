"""Make one migrated test database that `connections["default"]` can be pointed at."""

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.db import connections
from django.db.transaction import atomic

from allocation.job_ids import sqlite_journal
from atributo_site.config import databases
from tests.servers.postgres import database_template

ALIAS = "default"


class MigratedDatabase:
    """Made once per process and vendor; `reset` brings back the rows that the migrations made."""

    def __init__(self, server_url):
        env = replace(settings.ATRIBUTO, database_url=server_url)
        entry = databases.configured(env, settings.VAR_DIR)
        self._server_url = server_url
        self._original_name = entry["NAME"]
        self.settings = connections.configure_settings({ALIAS: entry})[ALIAS]
        connections.settings[ALIAS] = self.settings
        self.connection = connections.create_connection(ALIAS)
        self.select()
        database_template.copy(self.connection, self._test_name())
        self._tables = self.connection.introspection.django_table_names(only_existing=True)
        self._first_rows = {table: self._rows(table) for table in self._tables}
        self._filled_by_migrations = [t for t in self._tables if self._first_rows[t]]
        self._which_got_rows = " UNION ALL ".join(map(self._got_rows, self._empty_at_first()))

    def _test_name(self):
        if self.settings["ENGINE"].endswith("sqlite3"):
            return f"{self._original_name}.test"  # a file: other processes must be able to open it
        return f"atributo_test_{os.getpid()}"

    @property
    def url(self):
        """Return the DATABASE_URL with which another process works on the same rows."""
        name = self.settings["NAME"]
        if self.connection.vendor == "sqlite":
            return f"sqlite:///{name}"
        return urlsplit(self._server_url)._replace(path=f"/{name}").geturl()

    def select(self):
        """Point this thread, and every thread that connects from now on, at this database."""
        connections.settings[ALIAS] = self.settings
        connections[ALIAS] = self.connection
        ContentType.objects.clear_cache()  # it knows ids of the other database

    def reset(self):
        """Undo what a test committed, in one transaction and without touching what is as before.

        Django's own flush would also remove the rows that migrations made, and is slower.
        """
        with atomic(), closing(self.connection.cursor()) as cursor:
            changed = self._changed(cursor)
            for table in changed:
                cursor.execute(f"DELETE FROM {self._quoted(table)}")
            for table in changed:
                self._insert(cursor, table, self._first_rows[table])
        Path(sqlite_journal.path_of(ALIAS)).unlink(missing_ok=True)

    def drop(self):
        self.connection.creation.destroy_test_db(self._original_name, verbosity=0)

    def _changed(self, cursor):
        """Return the changed tables in their order; one query asks all that were empty."""
        cursor.execute(self._which_got_rows)
        found = {table for (table,) in cursor.fetchall()}
        found |= {table for table in self._filled_by_migrations if self._is_changed(table)}
        return [table for table in self._tables if table in found]

    def _empty_at_first(self):
        return [table for table in self._tables if not self._first_rows[table]]

    def _got_rows(self, table):
        return f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {self._quoted(table)})"

    def _is_changed(self, table):
        return self._rows(table, limit=len(self._first_rows[table]) + 1) != self._first_rows[table]

    def _rows(self, table, limit=10_000):
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(f"SELECT * FROM {self._quoted(table)} ORDER BY 1 LIMIT {limit}")
            return cursor.fetchall()

    def _insert(self, cursor, table, rows):
        if rows:
            places = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(f"INSERT INTO {self._quoted(table)} VALUES ({places})", rows)

    def _quoted(self, table):
        return self.connection.ops.quote_name(table)
