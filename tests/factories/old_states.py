"""Bring the tables of the default database to the state of an older release."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader


def migrate_to(targets):
    """Apply or unapply the migrations that squashed ones replace; return the models of then."""
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    return executor.migrate(targets).apps


def forget_squashed():
    """Let the history be that of a release that had no squashed migrations yet."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE name LIKE '%%squashed%%'", [])
