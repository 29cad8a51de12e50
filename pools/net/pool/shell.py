"""What every pool is: a machine with a lock around it, a resolver and a driver."""

import logging
import math
import random
import threading
import weakref
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Unpack

from pools.logic.backends import Backend
from pools.logic.errors import ClaimError, PoolError
from pools.logic.pool.actions import (
    Abandon,
    BackendDied,
    BackendLives,
    Check,
    Close,
    Connect,
    Grant,
    PoolAction,
    PoolStateChanged,
    Refuse,
    Revoke,
    Unwanted,
)
from pools.logic.pool.config import PoolConfig
from pools.logic.pool.pool import PoolMachine
from pools.net.dns.base import Resolver
from pools.net.dns.resolver import DNSResolver
from pools.net.pool.claim import BaseClaim, Claim
from pools.net.pool.connecting import Connector
from pools.net.pool.leftovers import Leftovers, Weakly, made_at, place
from pools.net.pool.options import PoolLimits, check_pool, recovery_spec
from pools.net.runtime.driver import Driver, Timer
from pools.net.runtime.events import Emitter, logger_of
from pools.net.runtime.fork import keep, renew_after_fork
from pools.net.runtime.monitor import pool_monitor
from pools.net.runtime.threads import ThreadDriver, default_driver

DRAIN_MS = 30_000.0


class PoolShell(Emitter):
    """Put a lock around the machine of a pool, and do what it asks for.

    `constructor(backend)` opens a connection; it may take the time limit as `timeout_ms`, and as
    `lost` a function that it or the connection calls with an error, or nothing, when it broke.
    `checker(handle, connection)` looks at an idle one; it releases or closes the handle, or raises,
    or returns False. Without a `resolver` one is made for `domain`.
    """

    claim_class: type[BaseClaim] = Claim
    machine_class: type[PoolMachine] = PoolMachine
    kang_type = "pool"

    def __init__(
        self,
        *,
        constructor: Callable[..., Any] | None = None,
        recovery: Any = None,
        domain: str = "",
        resolver: Resolver | None = None,
        service: str = "_http._tcp",
        default_port: int = 80,
        resolvers: Any = (),
        max_dns_concurrency: int = 5,
        resolver_options: dict[str, Any] | None = None,
        owns_resolver: bool | None = None,
        checker: Callable[..., Any] | None = None,
        check_timeout: float | None = None,
        log: logging.Logger | None = None,
        driver: Driver | None = None,
        chance: Callable[[], float] = random.random,
        **limits: Unpack[PoolLimits],
    ) -> None:
        super().__init__()
        self.log = logger_of(log)
        call = check_pool(type(self), limits, resolver_options, constructor, checker)
        spec = recovery_spec(recovery, is_needed=resolver is None)
        rest_ms = check_timeout if checker else None
        self._config = PoolConfig(recovery=spec, domain=domain, check_timeout=rest_ms, **limits)
        self.driver = driver or default_driver()
        self.service, self.default_port = service, default_port
        self._constructor, self._checker, self._chance = call, checker, chance
        self._avoided: frozenset[str] = frozenset()
        self._owns_resolver = resolver is None if owns_resolver is None else owns_resolver
        self.resolver = resolver or DNSResolver(
            domain,
            spec,
            service,
            default_port,
            resolvers,
            max_dns_concurrency,
            driver=self.driver,
            **{"log": log, **(resolver_options or {})},
        )
        self._is_dormant = False
        self._begin_anew()
        pool_monitor.register_pool(self)
        renew_after_fork(self)
        self._follow_resolver()
        self.go_on()

    def _begin_anew(self) -> None:
        self.now = self.driver.now
        self.machine = self.machine_class(self._config, self._chance)
        self._lock = threading.RLock()
        self.is_in_step: Callable[[], bool] = self._lock._is_owned  # type: ignore[attr-defined]
        self._timer: Timer | None = None
        self._wakes_at = math.inf
        belongings = self.resolver if self._owns_resolver else None
        leftovers = Leftovers(self.driver, belongings, f"{self!r} {made_at()}")
        self._connector = Connector(self, self._constructor, self._checker, leftovers)
        self._leftovers = leftovers
        self._finalizer = weakref.finalize(self, leftovers.dropped)
        self._finalizer.atexit = False  # the system closes them then

    @property
    def is_told_of(self) -> bool:
        """Return whether a warning tells that this pool was dropped; an agent tells of its own."""
        return self._leftovers.is_told

    @is_told_of.setter
    def is_told_of(self, is_told: bool) -> None:
        self._leftovers.is_told = is_told

    # -- claims ------------------------------------------------------------------------------

    def _begin(self, claim: BaseClaim, timeout: float | None, error_on_empty: bool) -> None:
        machine = self.machine
        slot = machine.plain.take(claim)
        if slot is not None:
            claim.granted(slot)
            if machine.wants_more:
                self.call_locked(self._want_more)
            return
        if self.is_in_step():
            raise ClaimError("a finalizer claims in the middle of a step of this pool", pool=self)
        with self._lock:
            if machine.config.max_lease is not None:
                claim.place = place()
            try:
                slot = machine.claim(claim, self.now(), timeout, error_on_empty)
            except PoolError as error:
                self._signed(error)
                raise
            if slot is not None:
                claim.granted(slot)
        if machine.wants_tick or machine.actions:
            self.go_on()

    def _want_more(self) -> None:
        with self._lock:
            self.machine.shape.want_more(self.now())
        if self.machine.wants_tick:
            self.go_on()

    def call_locked(self, call: Callable[[], None]) -> None:
        """Make a call that takes the lock; later, if this thread is in the middle of a step.

        Garbage collection runs finalizers anywhere, also inside a step of the machine, and the lock
        does not keep out the thread that holds it.
        """
        if self.is_in_step():
            self.driver.call_soon(call)
        else:
            call()

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

    def stop(self, drain: float | None = DRAIN_MS) -> None:
        """Refuse new claims, stop the resolver if it is ours, and close all connections.

        Leases have `drain` milliseconds to end before they are taken away; None waits for ever.
        """
        if self._owns_resolver:
            self.resolver.stop()
        self.call_locked(partial(self._stop, drain))

    def _stop(self, drain: float | None) -> None:
        self._finalizer.detach()
        with self._lock:
            self.machine.stop(self.now(), drain)
        self.go_on()

    def close(self, timeout: float | None = None) -> None:
        """Stop at once and wait until everything is closed, at most `timeout` seconds.

        On an event loop it only begins the end, because the loop has to go on; `aclose` waits.
        """
        self.stop(drain=0)
        if isinstance(self.driver, ThreadDriver):
            self.wait_for_state("stopped", timeout=None if timeout is None else timeout * 1000.0)

    def __repr__(self) -> str:
        machine, name = self.machine, self._config.domain or self.kang_type
        return (
            f"<{type(self).__name__} {name} {machine.state}: {machine.slots.total} connections, "
            f"{len(machine.idle)} idle, {len(machine.queue)} claims waiting>"
        )

    # -- forks -------------------------------------------------------------------------------

    def after_fork(self) -> None:
        """Begin anew in a forked child: its first claim opens connections of its own."""
        super().after_fork()
        old = self.machine
        self._finalizer.detach()
        self._connector.abandon_all()
        for slot in list(old.slots.all()):
            keep(slot.connection)
            if isinstance(slot.holder, BaseClaim):
                slot.holder.left_behind()
        is_over = old.state in ("stopping", "stopped") or not isinstance(self.driver, ThreadDriver)
        self.driver = default_driver()
        self._begin_anew()
        if is_over:
            self._finalizer.detach()
            self.machine.stop(self.now())
            self.machine.take()
        else:
            self._is_dormant = self.machine.wants_tick = True

    def _awake(self) -> None:
        self._is_dormant = False
        with self._lock:
            for key, backend in self.resolver.list().items():
                if key not in self._avoided:
                    self.machine.add_backend(backend, self.now())

    # -- the resolver ------------------------------------------------------------------------

    def _follow_resolver(self) -> None:
        for event, method in self._follows().items():
            getattr(self.resolver, "follow", self.resolver.on)(event, method)
        with self._lock:  # events of backends that leave meanwhile come afterwards
            for key, backend in self.resolver.list().items():
                self._added(key, backend)
        if self._owns_resolver:
            self.resolver.start()
        elif self.resolver.state == "failed":
            self._resolver_entered("failed")

    def _follows(self) -> dict[str, Callable[..., None]]:
        return {
            "added": self._added,
            "removed": self._removed,
            "state": self._resolver_entered,
        }

    @property
    def avoided(self) -> frozenset[str]:
        return self._avoided

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
        if self._is_dormant:
            self._awake()
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
                self._timer = self.driver.call_at(self._wakes_at, Weakly(self._tick))
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
            case Unwanted(connection):
                self._connector.tell_unwanted(connection)
            case Revoke(holder, reason):
                self.note("warning", "claim of %s %s", holder.place or "an unknown place", reason)
                holder.revoked(reason)
            case BackendDied(backend, error):
                self.note("warning", "%s: %s is dead: %s", self.machine.name, backend.where, error)
                getattr(self.resolver, "resolve_now", lambda: None)()
            case BackendLives(backend):
                self.note("info", "%s: %s is back", self.machine.name, backend.where)

    def _entered(self, state: str) -> None:
        if state == "stopped":
            for event, method in self._follows().items():
                getattr(self.resolver, "unfollow", self.resolver.off)(event, method)
        if state == "failed":
            self.note("warning", "%s failed: %s", self.machine.name, self.last_error)
        else:
            self.note("debug", "%s is %s", self.machine.name, state)
        self.emit("state", state)
