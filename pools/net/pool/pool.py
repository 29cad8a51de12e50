"""A pool of connections to the backends of a resolver."""

import logging
import math
import random
import sys
import threading
from collections.abc import Callable, Collection
from typing import Any

from pools.logic.backends import Backend
from pools.logic.errors import ClaimError, PoolError
from pools.logic.pool.actions import (
    Abandon,
    Check,
    Close,
    Connect,
    Grant,
    PoolAction,
    PoolStateChanged,
    Refuse,
    ResolveNow,
    Revoke,
)
from pools.logic.pool.config import PoolConfig
from pools.logic.pool.pool import PoolMachine
from pools.logic.recovery import RecoverySpec
from pools.net.dns.base import Resolver
from pools.net.dns.resolver import DNSResolver
from pools.net.pool.claim import CLAIMED, BaseClaim, Claim
from pools.net.pool.claim_callback import Callback, ClaimCallback
from pools.net.pool.connecting import Connector
from pools.net.runtime.driver import Driver, Timer
from pools.net.runtime.events import Emitter
from pools.net.runtime.monitor import pool_monitor
from pools.net.runtime.threads import default_driver

log = logging.getLogger("pools")


class PoolShell(Emitter):
    """Put a lock around the machine of a pool, and do what it asks for.

    `constructor(backend)` opens a connection; it may take the time limit as `timeout_ms`.
    `checker(handle, connection)` looks at an idle one; it releases or closes the handle, or raises,
    or returns False. Without a `resolver` one is made for `domain`.
    """

    claim_class: type[BaseClaim] = Claim
    machine_class: type[PoolMachine] = PoolMachine
    kang_type = "pool"

    def __init__(
        self,
        *,
        constructor: Callable[..., Any],
        recovery: Any,
        spares: int,
        maximum: int,
        domain: str = "",
        resolver: Resolver | None = None,
        service: str = "_http._tcp",
        default_port: int = 80,
        resolvers: Any = (),
        max_dns_concurrency: int = 5,
        resolver_options: dict[str, Any] | None = None,
        checker: Callable[..., Any] | None = None,
        check_timeout: float | None = None,
        driver: Driver | None = None,
        chance: Callable[[], float] = random.random,
        **limits: Any,
    ) -> None:
        super().__init__()
        if not callable(constructor):
            raise TypeError("constructor must be callable")
        recovery = RecoverySpec(recovery)
        config = PoolConfig(
            recovery=recovery,
            spares=spares,
            maximum=maximum,
            domain=domain,
            check_timeout=check_timeout if checker is not None else None,
            **limits,
        )
        self.driver = driver or default_driver()
        self.now = self.driver.now
        self.service, self.default_port = service, default_port
        self.machine = self.machine_class(config, chance)
        self._lock = threading.RLock()
        self._connector = Connector(self, constructor, checker)
        self._timer: Timer | None = None
        self._wakes_at = math.inf
        self._avoided: frozenset[str] = frozenset()
        self._owns_resolver = resolver is None
        self.resolver = resolver or DNSResolver(
            domain,
            recovery,
            service,
            default_port,
            resolvers,
            max_dns_concurrency,
            driver=self.driver,
            **(resolver_options or {}),
        )
        pool_monitor.register_pool(self)
        self._follow_resolver()
        self.go_on()

    # -- claims ------------------------------------------------------------------------------

    def _begin(self, claim: BaseClaim, timeout: float | None, error_on_empty: bool) -> None:
        machine = self.machine
        with self._lock:
            if machine.config.max_lease is not None:
                claim.place = _place()
            try:
                slot = machine.claim(claim, self.now(), timeout, error_on_empty)
            except PoolError as error:
                self._signed(error)
                raise
            if slot is not None:
                claim.granted(slot)
        if machine.wants_tick:
            self.go_on()

    def claim_sync(self) -> tuple[Any, Any]:
        """Return the handle and the connection if one is idle now; raise an error otherwise."""
        claim = self.claim_class(self)
        with self._lock:
            try:
                claim.granted(self.machine.claim_idle(claim, self.now()))
            except PoolError as error:
                self._signed(error)
                raise
        if self.machine.wants_tick:
            self.go_on()
        return claim, claim._answer()

    def _signed(self, error: PoolError) -> PoolError:
        """Name the pool that people know in the error, not the machine inside."""
        error.pool = self
        return error

    # -- state -------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        return self.machine.state

    @property
    def is_empty(self) -> bool:
        """Return True if no backend is known, which is not a failure."""
        return not self.machine.roster.backends

    @property
    def last_error(self) -> BaseException | None:
        return self.machine.last_error

    def get_stats(self) -> dict[str, Any]:
        with self._lock:
            return self.machine.stats()

    def stop(self, drain: float | None = None) -> None:
        """Refuse new claims and close everything; leases have `drain` milliseconds to end."""
        if self._owns_resolver:
            self.resolver.stop()
        with self._lock:
            self.machine.stop(self.now(), drain)
        self.go_on()

    # -- the resolver ------------------------------------------------------------------------

    def _follow_resolver(self) -> None:
        self.resolver.on("added", self._added)
        self.resolver.on("removed", self._removed)
        self.resolver.on("state", self._resolver_entered)
        with self._lock:  # events of backends that leave meanwhile come afterwards
            for key, backend in self.resolver.list().items():
                self._added(key, backend)
        if self._owns_resolver:
            self.resolver.start()
        elif self.resolver.state == "failed":
            self._resolver_entered("failed")

    def avoid(self, keys: Collection[str]) -> None:
        """Leave out these backends and no others: close idle connections, let leases end first."""
        with self._lock:
            before, self._avoided = self._avoided, frozenset(keys)
            known = self.resolver.list()
            for key in (self._avoided - before) & known.keys():
                self.machine.remove_backend(key, self.now())
            for key in (before - self._avoided) & known.keys():
                self.machine.add_backend(known[key], self.now())
        self.go_on()

    def _added(self, key: str, backend: Backend) -> None:
        with self._lock:
            if key not in self._avoided:
                self.machine.add_backend(backend, self.now())
        self.go_on()

    def _removed(self, key: str) -> None:
        with self._lock:
            self.machine.remove_backend(key, self.now())
        self.go_on()

    def _resolver_entered(self, state: str) -> None:
        if state == "failed":
            cause = self.resolver.last_error
            text = 'the resolver of the pool entered the state "failed"'
            error = PoolError(text if cause is None else f"{text}: {cause}", pool=self)
            error.__cause__ = cause
            with self._lock:
                self.machine.resolver_failed(error)
            self.go_on()

    # -- the machine and the world -----------------------------------------------------------

    def go_on(self) -> None:
        """Do what the machine asks for, and set a timer for its next moment."""
        with self._lock:
            actions = [action for action in self.machine.take() if not self._is_announced(action)]
            is_due = self.machine.wake_at() < self._wakes_at
            if is_due:
                self._wakes_at = -math.inf
        for action in actions:
            self._do(action)
        if is_due:
            self.driver.call_soon(self._tick)

    def _tick(self) -> None:
        with self._lock:
            self.machine.tick(self.now())
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._wakes_at = self.machine.wake_at()
            if self._wakes_at < math.inf:
                self._timer = self.driver.call_at(self._wakes_at, self._tick)
        self.go_on()

    def _is_announced(self, action: PoolAction) -> bool:
        """Announce a change of state, under the lock to keep the order; True if it was one."""
        match action:
            case PoolStateChanged(state):
                self.driver.call_soon(lambda: self._entered(state))
                return True
        return False

    def _do(self, action: PoolAction) -> None:
        match action:
            case Grant(holder, slot):
                holder.answered(slot, None)
            case Refuse(holder, error):
                holder.answered(None, self._signed(error))
            case Connect():
                self._connector.connect(action)
            case Abandon():
                self._connector.abandon(action)
            case Close(slot_id, connection):
                self._connector.close(slot_id, connection)
            case Check(slot_id, connection):
                self._connector.check(slot_id, connection)
            case Revoke(holder, reason):
                log.warning("claim of %s %s", holder.place or "an unknown place", reason)
                holder.revoked(reason)
            case ResolveNow():
                self.resolver.resolve_now()

    def _entered(self, state: str) -> None:
        if state == "stopped":
            self.resolver.off("added", self._added)
            self.resolver.off("removed", self._removed)
            self.resolver.off("state", self._resolver_entered)
        self._emit("state", state)


class ConnectionPool(PoolShell):
    """The pool of programs with threads; see PoolShell for the options."""

    def claim(
        self,
        timeout: float | None = None,
        error_on_empty: bool = False,
        callback: Callback | None = None,
    ) -> Claim:
        """Return a claim: use it as a context manager, wait() for it, or pass a callback.

        The callback gets (error) or (None, handle, connection), later and on the driver, unless the
        claim was cancelled before.
        """
        claim = Claim(self)
        if callback is None:
            self._begin(claim, timeout, error_on_empty)
        else:
            self._begin_with(callback, claim, timeout, error_on_empty)
        return claim

    def _begin_with(
        self, callback: Callback, claim: Claim, timeout: float | None, error_on_empty: bool
    ) -> None:
        claim._callback = ClaimCallback(callback)
        try:
            self._begin(claim, timeout, error_on_empty)
        except ClaimError as error:
            claim.answered(None, error)
        if claim.state == CLAIMED:
            claim._report()


def _place() -> str:
    """Return file and line outside of this package where the claim was taken."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pools."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
