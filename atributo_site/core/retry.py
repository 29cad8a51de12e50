"""Try a database that is busy or away again, a few times and within a deadline."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.conf import settings
from django.db import Error, IntegrityError, OperationalError, connections

from atributo_site.core.availability.patience import waiting_until
from atributo_site.core.errors import AtributoError, ConnectionLost, DatabaseBusy, DatabaseRefused

T = TypeVar("T")
TRIES = 6
FIRST_WAIT_SECONDS = 0.02
BUSY_STATES = {"40001", "40P01", "55P03", "57014", "53300", "26000"}


def retry_busy(
    operation: Callable[[], T],
    using: str = "default",
    *,
    repeatable: bool = False,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> T:
    """Return the operation's answer, or raise DatabaseBusy or ConnectionLost.

    Inside a transaction it is tried once. An operation whose answer got lost is repeated only if it
    is `repeatable`: done twice it leaves and answers the same as done once.
    """
    deadline = monotonic() + settings.ATRIBUTO.busy_timeout_ms / 1000
    with waiting_until(deadline) as deadline:
        try:
            return operation()
        except (Error, DatabaseBusy) as error:
            cause = _root(error)
        again = _Again(operation, using, repeatable, deadline, sleep, monotonic)
        return again.after(cause)


def surely(store: Callable[[], T], find: Callable[[], T | None], using: str = "default") -> T:
    """Store exactly once what has a unique name, which makes a second insert fail.

    After a lost answer it is stored again, unless `find` returns it.
    """
    tries = 0

    def attempt() -> T:
        nonlocal tries
        tries += 1
        try:
            stored = store()
        except IntegrityError:
            there = find() if tries > 1 else None
            if there is None:
                raise
            return there
        there = find() if tries > 1 and not stored else None
        return stored if there is None else there

    return retry_busy(attempt, using, repeatable=True)


@dataclass
class _Again(Generic[T]):
    """Make the tries after the first."""

    operation: Callable[[], T]
    using: str
    repeatable: bool
    deadline: float
    sleep: Callable[[float], None]
    monotonic: Callable[[], float]
    in_doubt: bool = False  # an answer got lost

    def after(self, error: Error | DatabaseBusy) -> T:
        tries = 1 if connections[self.using].in_atomic_block else TRIES
        for attempt in range(1, tries + 1):
            self._look_at(error)
            wait = FIRST_WAIT_SECONDS * 2**attempt * random.uniform(0.5, 1.0)
            if attempt == tries or self.monotonic() + wait > self.deadline:
                break
            self.sleep(wait)
            try:
                return self.operation()
            except (Error, DatabaseBusy) as next_error:
                error = _root(next_error)
            except AtributoError as refusal:  # perhaps caused by what the first try did
                self._tell_doubt(refusal)
                raise
        self._tell_doubt(error)
        if isinstance(error, ConnectionLost):
            raise error
        busy = DatabaseBusy(f"the database is busy; gave up after {attempt} tries", tries=attempt)
        busy.inside_transaction = connections[self.using].in_atomic_block
        raise busy from error

    def _look_at(self, error: Error | DatabaseBusy) -> None:
        """Raise what another try cannot help."""
        if isinstance(error, DatabaseRefused):
            raise error
        if isinstance(error, ConnectionLost):
            self.in_doubt |= error.in_doubt
            if error.in_doubt and not self.repeatable:
                raise error
        elif not is_busy(error):
            raise error

    def _tell_doubt(self, error: Exception) -> None:
        if self.in_doubt:
            sentence = f"an answer of the database got lost; asked again, it says: {error}"
            raise ConnectionLost(sentence, in_doubt=True) from error


def _root(error: Error | DatabaseBusy) -> Error | DatabaseBusy:
    """Return the cause: what failed inside a transaction may be tried again from outside."""
    cause = error.__cause__
    given_up = isinstance(error, DatabaseBusy) and error.inside_transaction
    return cause if given_up and isinstance(cause, Error) else error


def is_busy(error: BaseException) -> bool:
    """Return whether the same call may succeed in a moment."""
    cause = error.__cause__ or error
    if hasattr(cause, "sqlstate"):  # it is one of psycopg, which not every process loads
        return cause.sqlstate in BUSY_STATES
    return isinstance(error, OperationalError) and ("locked" in str(error) or "busy" in str(error))
