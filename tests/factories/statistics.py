"""Let the database look at the tables that a test has filled."""

from django.db import connection


def analyse(*models):
    """Analyse these tables alone; a catalog is shared with tests on other databases.

    Whoever analyses everything inside a transaction holds the catalogs until it ends.
    """
    with connection.cursor() as cursor:
        for model in models:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")
