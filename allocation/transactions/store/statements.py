"""Which statements make up each operation, and how they are run as one.

Scripts on PostgreSQL: prepared once per connection, then run as one message.

Planning seven small statements anew took longer than running them. The driver's own
prepared statements need a message each; `EXECUTE a(…); EXECUTE b(…)` is one message, and one
database transaction.
"""

import re
from functools import lru_cache
from hashlib import md5
from typing import Any
from weakref import WeakKeyDictionary

from django.db import connection
from django.db.transaction import atomic

from allocation.transactions.store import sql
from allocation.transactions.store.sql import Statement
from atributo_site.core.failpoints import are_armed, failpoint

Script = tuple[Statement, ...]
PARAMETER = re.compile(r"%\((\w+)\)s")
_prepared: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def run_prepared(script: Script, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of the last statement."""
    with connection.cursor() as cursor:
        _prepare(script, cursor)
        cursor.execute(_message(script), parameters)
        while cursor.nextset():
            pass
        return cursor.fetchall()


def _prepare(script: Script, cursor: Any) -> None:
    known = _prepared.setdefault(connection.connection, set())
    for statement in script:
        if _name(statement) not in known:
            cursor.execute(_definition(statement))
            known.add(_name(statement))


@lru_cache(maxsize=256)
def _message(script: Script) -> str:
    return ";\n".join(f"EXECUTE {_name(each)}{_arguments(each)}" for each in script)


@lru_cache(maxsize=256)
def _name(statement: Statement) -> str:
    digest = md5(statement.sql.encode(), usedforsecurity=False).hexdigest()[:12]
    return f"{statement.name.replace('.', '_')}_{digest}"


@lru_cache(maxsize=256)
def _parameters(statement: Statement) -> list[str]:
    return sorted(set(PARAMETER.findall(statement.sql)))


def _arguments(statement: Statement) -> str:
    return "(" + ", ".join(f"%({name})s" for name in _parameters(statement)) + ")"


def _definition(statement: Statement) -> str:
    places = {name: f"${place}" for place, name in enumerate(_parameters(statement), 1)}
    body = PARAMETER.sub(lambda found: places[found[1]], statement.sql)
    return f"PREPARE {_name(statement)} AS {body}"


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
        return run_prepared(script, parameters)
    return _run_one_by_one(script, parameters)


def _run_one_by_one(script: Script, parameters: dict[str, Any]) -> list[Row]:
    with atomic(), connection.cursor() as cursor:
        for statement in script:
            cursor.execute(statement.sql, parameters)
            failpoint(statement.name)
        return cursor.fetchall()
