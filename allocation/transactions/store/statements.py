"""Put together the statements of each operation on documents, and run them as one.

They are made once per database and condition, since to format them anew takes longer than
to send them.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from django.db.transaction import atomic

from allocation.transactions.store import sql
from atributo_site.core.database import Dialect, Row, execute, execute_together
from atributo_site.core.failpoints import are_armed, failpoint


class Script(NamedTuple):
    """The statements of one operation, and the failpoint behind each of them."""

    statements: tuple[str, ...]
    failpoints: tuple[str, ...]


def run(script: Script, **parameters: Any) -> list[Row]:
    """Run the statements in one database transaction; return the rows of the last one."""
    if not are_armed():
        return execute_together(script.statements, parameters).rows
    with atomic():
        for statement, point in zip(*script, strict=True):
            result = execute(statement, parameters)
            failpoint(point)
    return result.rows


@lru_cache(maxsize=128)
def transactional_put(dialect: Dialect, demand: str) -> Script:
    steps = {
        "put.fence": sql.FENCE,
        "put.ensure": sql.ENSURE,
        "put.mutex": sql.MUTEX,
        "put.lock": sql.LOCK,
        "put.journal": sql.JOURNAL,
        "put.write": sql.WRITE_JOURNALLED,
        "put.version": sql.VERSION,
    }
    return _script(dialect, steps, demand=demand)


@lru_cache(maxsize=128)
def transactional_delete(dialect: Dialect, demand: str) -> Script:
    steps = {
        "delete.fence": sql.FENCE,
        "delete.mutex": sql.MUTEX,
        "delete.lock": sql.LOCK,
        "delete.journal": sql.JOURNAL,
        "delete.write": sql.WRITE_JOURNALLED,
        "delete.version": sql.VERSION,
    }
    return _script(dialect, steps, demand=demand)


@lru_cache(maxsize=8)
def transactional_get(dialect: Dialect) -> Script:
    steps = {
        "get.fence": sql.FENCE,
        "get.ensure": sql.ENSURE,
        "get.mutex": sql.MUTEX,
        "get.lock": sql.LOCK,
        "get.count_token": sql.COUNT_TOKEN,
        "get.read": sql.READ_LOCKED,
    }
    return _script(dialect, steps, demand=sql.ANYTHING)


@lru_cache(maxsize=8)
def transactional_lock(dialect: Dialect) -> Script:
    steps = {
        "lock.fence": sql.FENCE,
        "lock.ensure": sql.ENSURE,
        "lock.mutex": sql.MUTEX,
        "lock.lock": sql.LOCK,
        "lock.count_token": sql.COUNT_TOKEN,
        "lock.read": sql.READ_LOCKED,
    }
    return _script(dialect, steps, demand=sql.ANYTHING)


@lru_cache(maxsize=128)
def plain_put(dialect: Dialect, demand: str, unless_locked: str) -> Script:
    may_be_new = demand not in (sql.SAME_REF, sql.PRESENT)
    steps = {"plain_put.insert": sql.INSERT} if may_be_new else {}
    steps |= {
        "plain_put.mutex": sql.MUTEX,
        "plain_put.write": sql.WRITE,
        "plain_put.version": sql.VERSION,
    }
    return _script(dialect, steps, demand=demand, unless_locked=unless_locked)


@lru_cache(maxsize=128)
def plain_delete(dialect: Dialect, demand: str, unless_locked: str, purge: bool) -> Script:
    steps = {
        "plain_delete.mutex": sql.MUTEX,
        "plain_delete.write": sql.WRITE,
        "plain_delete.history": sql.FORGET_VERSIONS if purge else sql.VERSION,
        "plain_delete.written": sql.WRITTEN,
    }
    return _script(dialect, steps, demand=demand, unless_locked=unless_locked)


@lru_cache(maxsize=8)
def begin(dialect: Dialect) -> Script:
    return _script(dialect, {"begin.insert": sql.BEGIN})


@lru_cache(maxsize=8)
def complete(dialect: Dialect) -> Script:
    steps = {
        "complete.commit_point": sql.COMPLETE,
        "complete.release": sql.RELEASE,
        "complete.status": sql.STATUS,
    }
    return _script(dialect, steps)


def _script(dialect: Dialect, steps: dict[str, str], **parts: str) -> Script:
    words = {
        "clock": dialect.clock,
        "lock_row": dialect.lock_row,
        "value": dialect.json("value"),
        "expires_at": dialect.in_seconds("seconds", since="clock"),
        "limit_at": dialect.in_seconds("limit_seconds", since="clock"),
    }
    words |= {name: part.format(**words) for name, part in parts.items()}
    # Where no row can be locked, a statement that only locks one has nothing to do.
    needed = {
        name: text
        for name, text in steps.items()
        if dialect.lock_row or text not in (sql.FENCE, sql.MUTEX)
    }
    return Script(
        tuple(text.format(**words) for text in needed.values()),
        tuple(needed),
    )
