"""How the database would run a query."""

from django.db import connection


def plan_of(rows):
    """The plan as one text; SQLite and PostgreSQL both name the indexes they use."""
    sql, parameters = rows.query.sql_with_params()
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}", parameters)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())
