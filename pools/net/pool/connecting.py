"""Open, check and close connections, where that may block."""

import inspect
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pools.logic.errors import BackendConnectionError, CheckFailedError
from pools.logic.pool.actions import Abandon, Connect
from pools.net.pool.leftovers import Leftovers
from pools.net.pool.peer_close import HangupWatch
from pools.net.runtime.driver import Done, shared
from pools.net.runtime.fork import keep

if TYPE_CHECKING:
    from pools.net.pool.shell import PoolShell

MOST_HUNG = 8  # threads that one backend may occupy with a constructor that ignores its limit
Attempt = tuple[int, int]  # a slot and its serial number


class Connector:
    """A constructor with a method `begin(driver, backend, timeout_ms, done)` needs no thread."""

    def __init__(
        self,
        pool: "PoolShell",
        constructor: Callable[..., Any],
        checker: Callable[..., Any] | None,
        leftovers: Leftovers,
    ) -> None:
        self._of_pool = weakref.ref(pool)
        self._constructor = constructor
        self._checker = checker
        self._takes = _parameters(constructor)
        self._driver = pool.driver
        self._leftovers = leftovers
        driver = pool.driver  # not the pool, which the leftovers must not keep alive
        leftovers.forget = lambda connection: shared(HangupWatch, driver).forget(connection)
        self._under_way: dict[Attempt, tuple[str, Callable[[], bool]]] = {}
        self._hung: Counter[str] = Counter()

    @property
    def _pool(self) -> "PoolShell":
        """Return the pool, which is alive: only calls of its own come here."""
        pool = self._of_pool()
        assert pool is not None
        return pool

    @property
    def _watch(self) -> HangupWatch:
        """Return it when it is needed: a forked child that uses no pool starts no thread."""
        return shared(HangupWatch, self._driver)

    def connect(self, action: Connect) -> None:
        key, pool = action.backend.key, self._pool
        report = LostReport(pool, action.slot_id)
        done = partial(_connected, pool, report, action)
        with pool._lock:
            if self._hung[key] >= MOST_HUNG:
                pool.driver.call_soon(partial(self._refused, pool, action))
                return
            self._under_way[action.slot_id, action.serial] = key, lambda: False
            give_up = self._begin(action, report, done)
            if (action.slot_id, action.serial) in self._under_way:
                self._under_way[action.slot_id, action.serial] = key, give_up

    def _begin(self, action: Connect, report: "LostReport", done: Done) -> Callable[[], bool]:
        driver, begin = self._pool.driver, getattr(self._constructor, "begin", None)
        if begin is not None:
            give_up: Callable[[], bool] = begin(driver, action.backend, action.timeout_ms, done)
            return give_up
        known = {"timeout_ms": action.timeout_ms, "lost": report}
        options = {name: value for name, value in known.items() if name in self._takes}
        return driver.run(partial(self._constructor, action.backend, **options), done)

    def _refused(self, pool: "PoolShell", action: Connect) -> None:
        error = TimeoutError(f"{MOST_HUNG} earlier attempts have not come back")
        with pool._lock:
            self.report(action, None, error, None)
        pool.go_on()

    def came_back(self, action: Connect) -> None:
        if self._under_way.pop((action.slot_id, action.serial), None) is None:
            self._hung[action.backend.key] -= 1

    def report(
        self,
        action: Connect,
        connection: Any,
        error: BaseException | None,
        report: "LostReport | None",
    ) -> None:
        """Report under the lock: a close by the peer must come after the connection."""
        pool, slots = self._pool, self._pool.machine.slots
        if error is None and report is not None:
            self._leftovers.connections[id(connection)] = connection
            self._watch.watch(connection, partial(_lost, self._of_pool, action.slot_id, connection))
            slots.connected(action.slot_id, action.serial, connection, pool.now())
            report.found(connection)
        else:
            failure = _failure(action, error or ConnectionError("no connection"))
            slots.connect_failed(action.slot_id, action.serial, failure, pool.now())

    def abandon(self, action: Abandon) -> None:
        """Give up an attempt; a hanging thread ends by itself, and its connection is closed."""
        with self._pool._lock:
            known = self._under_way.pop((action.slot_id, action.serial), None)
            if known is not None and not known[1]():
                self._hung[known[0]] += 1

    def abandon_all(self) -> None:
        """Keep what belongs to the parent, in a forked child."""
        keep(*self._leftovers.connections.values())
        self._leftovers.connections = {}
        self._under_way.clear()

    def tell_unwanted(self, connection: Any) -> None:
        tell = getattr(connection, "set_unwanted", None)
        if callable(tell):
            self._pool.driver.call_back(self._pool, tell, tell)

    def lost(self, slot_id: int, connection: Any, error: BaseException | None = None) -> None:
        with self._pool._lock:
            self._pool.machine.slots.lost(slot_id, connection, error, self._pool.now())
        self._pool.go_on()

    def close(self, slot_id: int | None, connection: Any) -> None:
        self._watch.forget(connection)
        self._leftovers.connections.pop(id(connection), None)
        close = getattr(connection, "close", None)
        pool = self._pool
        if close is None:
            self._closed(pool, slot_id, None, None)
        elif getattr(connection, "closes_at_once", False):
            close()
            self._closed(pool, slot_id, None, None)
        else:
            pool.driver.run(close, partial(self._closed, pool, slot_id))

    def _closed(
        self, pool: "PoolShell", slot_id: int | None, _: Any, error: BaseException | None
    ) -> None:
        if error is not None:
            pool.log.debug("closing a connection failed: %s", error)
        if slot_id is not None:
            with pool._lock:
                pool.machine.slots.closed(slot_id, pool.now())
            pool.go_on()

    def check(self, slot_id: int, connection: Any) -> None:
        assert self._checker is not None
        pool = self._pool
        handle = CheckHandle(partial(self._checked, pool, slot_id, connection))
        call = partial(self._checker, handle, connection)
        pool.driver.run(call, handle.returned)

    def _checked(
        self,
        pool: "PoolShell",
        slot_id: int,
        connection: Any,
        error: BaseException | None,
        is_over: bool,
    ) -> None:
        with pool._lock:
            pool.machine.slots.checked(slot_id, connection, error, pool.now(), is_over)
        pool.go_on()


class LostReport:
    """A constructor gets this as `lost`; calling it says that the connection is broken."""

    def __init__(self, pool: "PoolShell", slot_id: int) -> None:
        self._of_pool = weakref.ref(pool)
        self._slot_id = slot_id
        self._lock = threading.RLock()
        self._connection: Any = None
        self._is_found = False
        self._told: list[BaseException | None] = []

    def found(self, connection: Any) -> None:
        with self._lock:
            self._connection, self._is_found = connection, True
            told, self._told = self._told, []
        pool = self._of_pool()
        if told and pool is not None:  # it broke before the pool had it
            call = partial(pool._connector.lost, self._slot_id, connection, told[0])
            pool.driver.call_soon(call)

    def __call__(self, error: BaseException | None = None) -> None:
        with self._lock:
            if not self._is_found:
                self._told.append(error)
                return
        pool = self._of_pool()
        if pool is not None:
            call = partial(pool._connector.lost, self._slot_id, self._connection, error)
            pool.driver.call_soon(call)


def _lost(of_pool: "weakref.ref[PoolShell]", slot_id: int, connection: Any) -> None:
    pool = of_pool()
    if pool is not None:
        pool._connector.lost(slot_id, connection)


def _connected(
    pool: "PoolShell",
    report: LostReport,
    action: Connect,
    connection: Any,
    error: BaseException | None,
) -> None:
    with pool._lock:
        pool._connector.came_back(action)
        pool._connector.report(action, connection, error, report)
    pool.go_on()


class CheckHandle:
    """A checker gets this: release() says the connection is good, close() that it is not.

    `expire` is for a good answer after which the server closed the connection.
    """

    def __init__(self, report: Callable[[BaseException | None, bool], None]) -> None:
        self._report: Callable[[BaseException | None, bool], None] | None = report

    def release(self) -> None:
        self._end(None)

    def expire(self) -> None:
        self._end(None, is_over=True)

    def close(self, error: BaseException | None = None) -> None:
        self._end(error or CheckFailedError("the check closed the connection"))

    def returned(self, verdict: Any, error: BaseException | None) -> None:
        """Judge a checker that neither released nor closed by what it returned or raised."""
        if error is None and verdict is False:
            error = CheckFailedError("the check said no")
        self._end(error)

    def _end(self, error: BaseException | None, is_over: bool = False) -> None:
        report, self._report = self._report, None
        if report is not None:
            report(error, is_over)


def _failure(action: Connect, error: BaseException) -> BackendConnectionError:
    backend = action.backend
    failure = BackendConnectionError(
        f"connecting to {backend.where} failed: {error}", backend=backend
    )
    failure.__cause__ = error
    return failure


def _parameters(constructor: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(constructor).parameters)
    except (TypeError, ValueError):  # some built-in callables have no signature
        return frozenset()
