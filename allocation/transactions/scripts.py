"""Which statements make up each operation, and how they are run as one."""

from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.transaction import atomic

from allocation.failpoints import are_armed, failpoint
from allocation.transactions import prepared, sql
from allocation.transactions.sql import Statement

Script = tuple[Statement, ...]
Row = tuple[Any, ...]


@lru_cache(maxsize=128)
def transactional_put(vendor: str, demand: str) -> Script:
    return _script(
        vendor,
        Statement("put.fence", sql.FENCE),
        Statement("put.ensure", sql.ENSURE),
        Statement("put.mutex", sql.MUTEX),
        Statement("put.lock", sql.LOCK),
        Statement("put.journal", sql.JOURNAL),
        Statement("put.write", sql.WRITE_JOURNALLED),
        Statement("put.version", sql.VERSION),
        demand=demand,
    )


@lru_cache(maxsize=128)
def transactional_delete(vendor: str, demand: str) -> Script:
    return _script(
        vendor,
        Statement("delete.fence", sql.FENCE),
        Statement("delete.mutex", sql.MUTEX),
        Statement("delete.lock", sql.LOCK),
        Statement("delete.journal", sql.JOURNAL),
        Statement("delete.write", sql.WRITE_JOURNALLED),
        Statement("delete.version", sql.VERSION),
        demand=demand,
    )


@lru_cache(maxsize=128)
def transactional_get(vendor: str) -> Script:
    return _script(
        vendor,
        Statement("get.fence", sql.FENCE),
        Statement("get.mutex", sql.MUTEX),
        Statement("get.lock", sql.LOCK),
        Statement("get.count_token", sql.COUNT_TOKEN),
        Statement("get.read", sql.READ_LOCKED),
        demand=sql.PRESENT,
    )


@lru_cache(maxsize=128)
def transactional_lock(vendor: str) -> Script:
    return _script(
        vendor,
        Statement("lock.fence", sql.FENCE),
        Statement("lock.ensure", sql.ENSURE),
        Statement("lock.mutex", sql.MUTEX),
        Statement("lock.lock", sql.LOCK),
        Statement("lock.count_token", sql.COUNT_TOKEN),
        Statement("lock.read", sql.READ_LOCKED),
        demand=sql.ANYTHING,
    )


@lru_cache(maxsize=128)
def plain_put(vendor: str, demand: str, unless_locked: str) -> Script:
    needs_one = demand in (sql.SAME_REF, sql.PRESENT)
    inserts = () if needs_one else (Statement("plain_put.insert", sql.INSERT),)
    return _script(
        vendor,
        *inserts,
        Statement("plain_put.mutex", sql.MUTEX),
        Statement("plain_put.write", sql.WRITE),
        Statement("plain_put.version", sql.VERSION),
        demand=demand,
        unless_locked=unless_locked,
    )


@lru_cache(maxsize=128)
def plain_delete(vendor: str, demand: str, unless_locked: str, purge: bool) -> Script:
    history = sql.FORGET_VERSIONS if purge else sql.VERSION
    return _script(
        vendor,
        Statement("plain_delete.mutex", sql.MUTEX),
        Statement("plain_delete.write", sql.WRITE),
        Statement("plain_delete.history", history),
        Statement("plain_delete.written", sql.WRITTEN),
        demand=demand,
        unless_locked=unless_locked,
    )


@lru_cache(maxsize=8)
def begin(vendor: str) -> Script:
    later = sql.DIALECTS[vendor].later.replace("%(seconds)s", "%(limit_seconds)s")
    return _script(vendor, Statement("begin.insert", sql.BEGIN), later_limit=later)


@lru_cache(maxsize=8)
def complete(vendor: str) -> Script:
    return _script(
        vendor,
        Statement("complete.commit_point", sql.COMPLETE),
        Statement("complete.release", sql.RELEASE),
        Statement("complete.status", sql.STATUS),
    )


def _script(vendor: str, *statements: Statement, **parts: str) -> Script:
    dialect = sql.DIALECTS[vendor]._asdict()
    inner = {name: part.format(**dialect) for name, part in parts.items()}
    return tuple(
        Statement(name, text.format(**dialect, **inner))
        for name, text in statements
        if dialect["lock_row"] or text not in (sql.FENCE, sql.MUTEX)
    )


def run(script: Script, **parameters: Any) -> list[Row]:
    """The rows of the last statement."""
    if connection.vendor == "postgresql" and not are_armed():
        return prepared.run(script, parameters)
    return _run_one_by_one(script, parameters)


def _run_one_by_one(script: Script, parameters: dict[str, Any]) -> list[Row]:
    with atomic(), connection.cursor() as cursor:
        for statement in script:
            cursor.execute(statement.sql, parameters)
            failpoint(statement.name)
        return cursor.fetchall()
