"""How the database would run a query."""

from django.db import connection


def plan_of(rows):
    """The plan as one text; SQLite and PostgreSQL both name the indexes they use."""
    sql, parameters = rows.query.sql_with_params()
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {sql}", parameters)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def change_everything(txn):
    new = txn.post("c", {"v": 1})
    txn.get("c", "old")
    txn.put("c", "old", {"v": 1})
    txn.delete("c", "doomed")
    return new.key


def six_calls(txn):
    return [
        lambda: txn.post("c", {}),
        lambda: txn.put("c", "old", {}),
        lambda: txn.get("c", "old"),
        lambda: txn.delete("c", "old"),
        txn.complete,
        txn.roll_back,
    ]
