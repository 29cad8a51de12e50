"""Run what may fail without harm after the rows are committed."""

from collections.abc import Callable

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.transaction import on_commit


def after_commit(call: Callable[[], object], *, using: str = "default") -> None:
    """Call it once the transaction is committed; an error is logged and never raised.

    Django logs the name of the function that failed. A partial has no name, and reading it would
    raise an error: the caller would believe that its committed row is not there.
    """

    def named() -> None:
        call()

    named.__qualname__ = _name_of(call)
    on_commit(named, using=using, robust=True)


def forget(connection: BaseDatabaseWrapper) -> None:
    """Drop what follows a commit that another process makes."""
    connection.run_on_commit = []


def _name_of(call: Callable[[], object]) -> str:
    bare = getattr(call, "func", call)  # a partial's repr would show its arguments
    return getattr(bare, "__qualname__", type(bare).__qualname__)
