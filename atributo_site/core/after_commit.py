"""After commit: what may fail without harm to the rows, which are committed by then."""

from collections.abc import Callable

from django.db.transaction import on_commit


def after_commit(call: Callable[[], object], *, using: str = "default") -> None:
    """Call it once the transaction is committed; an error is logged and never raised.

    Django logs the name of the function that failed; a partial has none, and asking for it
    would raise: the caller would take a committed row for one that is not there.
    """

    def named() -> None:
        call()

    named.__qualname__ = _name_of(call)
    on_commit(named, using=using, robust=True)


def _name_of(call: Callable[[], object]) -> str:
    bare = getattr(call, "func", call)  # not a partial's repr, which shows its arguments
    return getattr(bare, "__qualname__", type(bare).__qualname__)
