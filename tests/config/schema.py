"""Read the schema of a database as text that can be compared."""

import re

from django.db import connection

POSTGRESQL = {
    "columns": """
        SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
            a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid), a.attcollation
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE c.relkind = 'r' AND a.attnum > 0 AND c.relnamespace = 'public'::regnamespace""",
    "tables": """
        SELECT relname, relkind, reloptions FROM pg_class
        WHERE relkind <> 'i' AND relnamespace = 'public'::regnamespace""",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
    "sequences": """
        SELECT sequencename, data_type::text, start_value, increment_by, cycle, cache_size
        FROM pg_sequences WHERE schemaname = 'public'""",
    "functions": """
        SELECT proname, pg_get_functiondef(oid) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace""",
    "triggers": "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal",
}
SQLITE = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"


def schema():
    """Return what the database says about its tables, one sorted list of lines for each kind."""
    if connection.vendor == "postgresql":
        return {kind: sorted(map(repr, rows(query))) for kind, query in POSTGRESQL.items()}
    return {(kind, name, table): clauses(sql) for kind, name, table, sql in rows(SQLITE)}


def rows(query):
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def clauses(sql):
    """Return the columns of a CREATE TABLE in their order, then its constraints by name."""
    if not sql.startswith("CREATE TABLE"):
        return [sql]
    parts = top_level(sql[sql.index("(") + 1 : sql.rindex(")")])
    columns = [part for part in parts if not part.startswith("CONSTRAINT")]
    return columns + sorted(set(parts) - set(columns))


def top_level(text):
    """Split at the commas that stand in no parentheses and no quotes."""
    parts, depth = [""], 0
    for token in re.findall(r"""'(?:[^']|'')*'|"[^"]*"|.""", text, re.DOTALL):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and not depth:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]
