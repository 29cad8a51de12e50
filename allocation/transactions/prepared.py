"""Scripts on PostgreSQL: prepared once per connection, then run as one message.

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

from allocation.transactions.sql import Statement

Script = tuple[Statement, ...]
PARAMETER = re.compile(r"%\((\w+)\)s")
_prepared: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def run(script: Script, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
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
