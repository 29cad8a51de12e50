"""Begin anew in a forked child: the threads are gone, and the sockets belong to the parent.

Whatever has locks or connections registers here. In the child it gets new ones; what it had is kept
without being touched, because closing a connection may say goodbye to a server in the name of the
parent.
"""

import os
import weakref
from collections.abc import Callable
from typing import Any, Protocol


class Renewable(Protocol):
    def after_fork(self) -> None:
        """Forget threads, locks and connections; run in the child before anything else."""
        ...


_known: dict[int, weakref.ref[Any]] = {}
_first: list[Callable[[], None]] = []
_inherited: list[Any] = []


def renew_after_fork(thing: Renewable) -> None:
    """Renew in the order of registration; what is garbage by then is left out."""
    number = id(thing)
    _known[number] = weakref.ref(thing, lambda _: _known.pop(number, None))


def first_after_fork(call: Callable[[], None]) -> None:
    _first.append(call)


def keep(*things: Any) -> None:
    """Keep what belongs to the parent for as long as the child lives."""
    _inherited.extend(things)


def _begin_anew() -> None:
    for call in _first:
        call()
    for reference in list(_known.values()):
        thing = reference()
        if thing is not None:
            thing.after_fork()


os.register_at_fork(after_in_child=_begin_anew)
