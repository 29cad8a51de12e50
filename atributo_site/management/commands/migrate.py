"""Django's `migrate` without the time limits of requests; see `patient` and `pending_indexes`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.commands import migrate
from django.db import connections

from atributo_site.core.database import is_ours
from atributo_site.core.postgresql import pending_indexes

LOCK = 4_725_310_774  # of one `migrate` at a time
LOOK_SECONDS = 0.5


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        is_asked_only = options["plan"] or options["check_unapplied"]
        if not is_ours(connection) or connection.in_atomic_block or is_asked_only:
            super().handle(*args, **options)
            return
        with patient(connection), alone(connection, self._say(options)):
            super().handle(*args, **options)
            with connection.cursor() as cursor:  # to wait for others keeps nobody waiting here
                cursor.execute("SET lock_timeout = 0")
            pending_indexes.build(connection, self._say(options))

    def _say(self, options: dict[str, Any]) -> Any:
        return self.stdout.write if options["verbosity"] >= 1 else lambda text: None


@contextmanager
def patient(connection: Any) -> Iterator[None]:
    """Let statements take their time: a large table is not rewritten in seconds.

    A statement that waits for a table's lock makes all others wait behind it, so that limit stays.
    """
    limits = ("statement_timeout", "idle_in_transaction_session_timeout")
    _execute(connection, [f"SET {name} = 0" for name in limits])
    try:
        yield
    finally:
        if connection.connection is not None and not connection.connection.closed:
            _execute(connection, [f"RESET {name}" for name in (*limits, "lock_timeout")])


@contextmanager
def alone(connection: Any, say: Any) -> Iterator[None]:
    """Let no two of them run at once.

    Asking again and again is on purpose: a statement that waits for the lock would have a snapshot,
    for whose end the building of an index waits.
    """
    is_told = False
    while not _ask(connection, f"SELECT pg_try_advisory_lock({LOCK})"):
        if not is_told:
            say("Another migrate runs; this one waits for its end.")
        is_told = True
        time.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        if connection.connection is not None and not connection.connection.closed:
            _ask(connection, f"SELECT pg_advisory_unlock({LOCK})")


def _execute(connection: Any, statements: list[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("; ".join(statements))


def _ask(connection: Any, question: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return cursor.fetchone()[0]
