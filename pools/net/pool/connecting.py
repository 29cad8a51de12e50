"""Open, check and close connections, where that may block."""

import inspect
import logging
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pools.logic.errors import BackendConnectionError, CheckFailedError
from pools.logic.pool.actions import Abandon, Connect
from pools.net.pool.peer_close import HangupWatch
from pools.net.runtime.driver import shared

if TYPE_CHECKING:
    from pools.net.pool.pool import PoolShell

log = logging.getLogger("pools")

MOST_HUNG = 8  # threads that one backend may occupy with a constructor that ignores its limit
Attempt = tuple[int, int]  # a slot and its serial number


class Connector:
    def __init__(
        self,
        pool: "PoolShell",
        constructor: Callable[..., Any],
        checker: Callable[..., Any] | None,
    ) -> None:
        self._pool = pool
        self._constructor = constructor
        self._checker = checker
        self._takes_limit = _takes_limit(constructor)
        self._watch = shared(HangupWatch, pool.driver)
        self._under_way: dict[Attempt, tuple[str, Callable[[], bool]]] = {}
        self._hung: Counter[str] = Counter()

    def connect(self, action: Connect) -> None:
        options = {"timeout_ms": action.timeout_ms} if self._takes_limit else {}
        call = partial(self._constructor, action.backend, **options)
        key, driver = action.backend.key, self._pool.driver
        with self._pool._lock:
            if self._hung[key] >= MOST_HUNG:
                driver.call_soon(partial(self._refused, action))
                return
            give_up = driver.run(call, partial(self._connected, action))
            self._under_way[action.slot_id, action.serial] = key, give_up

    def _refused(self, action: Connect) -> None:
        error = TimeoutError(f"{MOST_HUNG} earlier attempts have not come back")
        with self._pool._lock:
            self._report(action, None, error)
        self._pool.go_on()

    def _connected(self, action: Connect, connection: Any, error: BaseException | None) -> None:
        with self._pool._lock:
            if self._under_way.pop((action.slot_id, action.serial), None) is None:
                self._hung[action.backend.key] -= 1
            self._report(action, connection, error)
        self._pool.go_on()

    def _report(self, action: Connect, connection: Any, error: BaseException | None) -> None:
        """Report under the lock: a close by the peer must come after the connection."""
        pool, slots = self._pool, self._pool.machine.slots
        if error is None:
            self._watch.watch(connection, partial(self.lost, action.slot_id, connection))
            slots.connected(action.slot_id, action.serial, connection, pool.now())
        else:
            failure = _failure(action, error)
            slots.connect_failed(action.slot_id, action.serial, failure, pool.now())

    def abandon(self, action: Abandon) -> None:
        """Give up an attempt; a hanging thread ends by itself, and its connection is closed."""
        with self._pool._lock:
            known = self._under_way.pop((action.slot_id, action.serial), None)
            if known is not None and not known[1]():
                self._hung[known[0]] += 1

    def lost(self, slot_id: int, connection: Any, error: BaseException | None = None) -> None:
        with self._pool._lock:
            self._pool.machine.slots.lost(slot_id, connection, error, self._pool.now())
        self._pool.go_on()

    def close(self, slot_id: int | None, connection: Any) -> None:
        self._watch.forget(connection)
        close = getattr(connection, "close", None)
        if close is None:
            self._closed(slot_id, None, None)
        else:
            self._pool.driver.run(close, partial(self._closed, slot_id))

    def _closed(self, slot_id: int | None, _: Any, error: BaseException | None) -> None:
        if error is not None:
            log.debug("closing a connection failed: %s", error)
        if slot_id is not None:
            with self._pool._lock:
                self._pool.machine.slots.closed(slot_id, self._pool.now())
            self._pool.go_on()

    def check(self, slot_id: int, connection: Any) -> None:
        assert self._checker is not None
        handle = CheckHandle(partial(self._checked, slot_id, connection))
        call = partial(self._checker, handle, connection)
        self._pool.driver.run(call, handle.returned)

    def _checked(self, slot_id: int, connection: Any, error: BaseException | None) -> None:
        with self._pool._lock:
            self._pool.machine.slots.checked(slot_id, connection, error, self._pool.now())
        self._pool.go_on()


class CheckHandle:
    """A checker gets this: release() says the connection is good, close() that it is not."""

    def __init__(self, report: Callable[[BaseException | None], None]) -> None:
        self._report: Callable[[BaseException | None], None] | None = report

    def release(self) -> None:
        self._end(None)

    def close(self, error: BaseException | None = None) -> None:
        self._end(error or CheckFailedError("the check closed the connection"))

    def returned(self, verdict: Any, error: BaseException | None) -> None:
        """Judge a checker that neither released nor closed by what it returned or raised."""
        if error is None and verdict is False:
            error = CheckFailedError("the check said no")
        self._end(error)

    def _end(self, error: BaseException | None) -> None:
        report, self._report = self._report, None
        if report is not None:
            report(error)


def _failure(action: Connect, error: BaseException) -> BackendConnectionError:
    backend = action.backend
    where = f"{backend.name} ({backend.address}:{backend.port})"
    failure = BackendConnectionError(f"connecting to {where} failed: {error}", backend=backend)
    failure.__cause__ = error
    return failure


def _takes_limit(constructor: Callable[..., Any]) -> bool:
    try:
        return "timeout_ms" in inspect.signature(constructor).parameters
    except (TypeError, ValueError):  # some built-in callables have no signature
        return False
