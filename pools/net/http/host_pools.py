"""The pools of an agent: one for every host, port and TLS identity that it meets."""

import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, Self, TypeVar, Unpack

from pools.logic.errors import AgentStoppedError, InvalidInput, PoolExistsError
from pools.logic.numbers import check_port, check_positive, check_wait
from pools.logic.pool.config import PoolConfig
from pools.net.dns.base import Resolver
from pools.net.dns.nameservers import split_resolvers
from pools.net.dns.pick import resolver_for_ip_or_domain
from pools.net.http.message import Address, Timeout, timeout_of
from pools.net.http.tls import Tls
from pools.net.pool.leftovers import Weakly, made_at
from pools.net.pool.options import (
    DEFAULT_RECOVERY,
    AgentLimits,
    check_names,
    check_resolver_options,
    recovery_spec,
)
from pools.net.pool.shell import DRAIN_MS, PoolShell
from pools.net.runtime.driver import Driver
from pools.net.runtime.events import logger_of
from pools.net.runtime.fork import renew_after_fork
from pools.net.runtime.threads import default_driver

POOL_IDLE_MS = 300_000.0
Key = tuple[str, int, Tls]
P = TypeVar("P", bound=PoolShell)


class HostPools(Generic[P]):
    """What agents for threads and for asyncio have in common."""

    scheme = "http"
    port = 80

    def __init__(
        self,
        *,
        recovery: Any = None,
        resolvers: Iterable[str] | str = (),
        default_port: int | None = None,
        initial_domains: Iterable[str] = (),
        tcp_keep_alive_initial_delay: float | None = None,
        ping: str | None = None,
        ping_interval: float = 30_000.0,
        ping_limit: float = 2000.0,
        error_on_empty: bool = False,
        claim_timeout: float | None = None,
        timeout: float | Timeout | None = None,
        tls: Tls | None = None,
        pool_idle_timeout: float | None = POOL_IDLE_MS,
        resolver_options: Mapping[str, Any] | None = None,
        log: Any = None,
        driver: Driver | None = None,
        **limits: Unpack[AgentLimits],
    ) -> None:
        self.log = logger_of(log)
        check_names(type(self), limits, AgentLimits.__annotations__)
        PoolConfig(recovery=recovery_spec(recovery), **limits)  # refuses early
        _check_kinds(tls, initial_domains)
        _check_numbers(
            check_positive,
            ping_interval=ping_interval,
            ping_limit=ping_limit,
            pool_idle_timeout=pool_idle_timeout,
            tcp_keep_alive_initial_delay=tcp_keep_alive_initial_delay,
        )
        _check_numbers(check_wait, claim_timeout=claim_timeout)
        _check_numbers(check_port, default_port=default_port)
        self._recovery = DEFAULT_RECOVERY if recovery is None else recovery
        self._has_tls = tls is not None
        self._tls = tls or Tls()
        self._default_port = default_port or self.port
        self.keep_alive_ms = tcp_keep_alive_initial_delay
        self._error_on_empty = error_on_empty
        self._timeout = timeout_of(timeout, Timeout())
        self._claim_timeout = claim_timeout
        self._given_driver = driver
        self._options: dict[str, Any] = {**limits, "log": log}
        self._ping = None if ping is None else (ping, ping_interval, ping_limit)
        names: Any = resolvers
        if isinstance(resolvers, Iterable) and not isinstance(resolvers, str):
            names = list(resolvers)
        split_resolvers(names)  # refuses early
        check_resolver_options(resolver_options)
        self._resolver_config = {
            "recovery": self._recovery,
            "service": f"_{self.scheme}._tcp",
            "resolvers": names,
            "log": log,
            **(resolver_options or {}),
        }
        self._lock = threading.RLock()
        self._pools: dict[Key, P] = {}
        self._claims_seen: dict[Key, int] = {}
        self._given: dict[tuple[str, int], Resolver] = {}
        self._kept: set[Key] = set()
        self._is_stopped = False
        self._idle_ms = pool_idle_timeout
        self._sweeps = False
        renew_after_fork(self)
        text = f"<{type(self).__name__}> {made_at()} was dropped without stop()"
        self._finalizer = weakref.finalize(self, warnings.warn, text, ResourceWarning, 2)
        self._finalizer.atexit = False
        for domain in initial_domains:
            self.create_pool(domain)

    # -- pools -------------------------------------------------------------------------------

    def get_pool(self, host: str, port: int | None = None, tls: Tls | None = None) -> P | None:
        return self._pools.get(self._key(host, port, tls or self._tls))

    def create_pool(
        self,
        host: str,
        port: int | None = None,
        resolver: Resolver | None = None,
        tls: Tls | None = None,
    ) -> P:
        """Make the pool of a host beforehand; a given resolver is neither started nor stopped.

        Such a pool stays until the agent is stopped. Its resolver also serves requests to the host
        that have other TLS settings.
        """
        key = self._key(host, port, tls or self._tls)
        with self._lock:
            self._check_running()
            if key in self._pools:
                raise PoolExistsError(f"there is a pool for {key[0]}:{key[1]} already")
            if resolver is not None:
                self._given[key[0], key[1]] = resolver
            self._kept.add(key)
            return self._add_pool(key)

    def pool_for(self, address: Address, tls: Tls | None) -> P:
        if address.scheme != self.scheme:
            raise InvalidInput(f"this agent speaks {self.scheme}, not {address.scheme}")
        key = self._key(address.host, address.port, tls or self._tls)
        pool = self._pools.get(key)
        if pool is None or self._is_stopped:
            with self._lock:
                self._check_running()
                pool = self._pools.get(key) or self._add_pool(key)
        return pool

    def _key(self, host: str, port: int | None, tls: Tls) -> Key:
        """Include the TLS settings in the key only where there is TLS."""
        if self.scheme == "http":
            tls = self._tls
        return host.strip("[]").rstrip(".").lower(), port or self._default_port, tls

    def _add_pool(self, key: Key) -> P:
        host, port, tls = key
        driver = self._driver()
        resolver = self._given.get((host, port))
        is_ours = resolver is None
        if resolver is None:
            config = {"driver": driver, **self._resolver_config, "default_port": port}
            resolver = resolver_for_ip_or_domain(host, config)
        pool = self._make_pool(
            host,
            port,
            tls,
            resolver=resolver,
            owns_resolver=is_ours,
            domain=host,
            service=f"_{self.scheme}._tcp",
            default_port=port,
            recovery=self._recovery,
            driver=driver,
            **self._options,
        )
        pool.is_told_of = False  # the agent is
        self._pools[key] = pool
        self._sweep_later(pool.driver)
        return pool

    def _driver(self) -> Driver:
        return self._given_driver or default_driver()

    def _make_pool(self, host: str, port: int, tls: Tls, **options: Any) -> P:
        raise NotImplementedError

    # -- pools that nobody uses --------------------------------------------------------------

    def _sweep_later(self, driver: Driver) -> None:
        if not self._sweeps and self._idle_ms is not None:
            self._sweeps = True
            sweep: Callable[[], None] = Weakly(self._sweep)
            driver.call_at(driver.now() + self._idle_ms, sweep)

    def _sweep(self) -> None:
        """Stop the pools that nobody has used since the last time."""
        with self._lock:
            self._sweeps = False
            if self._is_stopped:
                return
            left = [key for key in self._pools if key not in self._kept and self._is_unused(key)]
            unused = [self._pools.pop(key) for key in left]
            for key in left:
                del self._claims_seen[key]
            for pool in list(self._pools.values())[:1]:
                self._sweep_later(pool.driver)
        for pool in unused:
            pool.stop()

    def _is_unused(self, key: Key) -> bool:
        pool = self._pools[key]
        with pool._lock:
            claims = pool.machine.claims_in_all()
            is_busy = bool(pool.machine.lent() or pool.machine.queue.waiting)
        before, self._claims_seen[key] = self._claims_seen.get(key), claims
        return before == claims and not is_busy

    # -- the end -----------------------------------------------------------------------------

    def stop(self, drain: float | None = DRAIN_MS) -> None:
        """Stop every pool and its resolver; leases have `drain` milliseconds to end."""
        with self._lock:
            self._check_running()
            self._is_stopped = True
        self._finalizer.detach()
        for pool in self._pools.values():
            pool.stop(drain)

    def is_stopped(self) -> bool:
        return self._is_stopped

    def after_fork(self) -> None:
        self._lock = threading.RLock()
        self._sweeps = False

    def _check_running(self) -> None:
        if self._is_stopped:
            raise AgentStoppedError("the agent is stopped")

    def clone(self, kind: "type[HostPools[P]]") -> Self:
        """Return an agent of another kind with the same settings."""
        options = {k: v for k, v in self._options.items() if v is not None}
        config = {
            k: v
            for k, v in self._resolver_config.items()
            if k not in ("recovery", "service", "resolvers", "log")
        }
        return kind(  # type: ignore[return-value]
            recovery=self._recovery,
            resolvers=self._resolver_config["resolvers"],
            error_on_empty=self._error_on_empty,
            claim_timeout=self._claim_timeout,
            timeout=self._timeout,
            tls=self._tls,
            pool_idle_timeout=self._idle_ms,
            resolver_options=config,
            tcp_keep_alive_initial_delay=self.keep_alive_ms,
            driver=self._given_driver,
            **options,
        )

    def __repr__(self) -> str:
        state = "stopped" if self._is_stopped else "running"
        pools = ", ".join(f"{host}:{port}" for host, port, _ in self._pools)
        return f"<{type(self).__name__} {state}: {pools or 'no pools'}>"


def _check_kinds(tls: Any, initial_domains: Any) -> None:
    if tls is not None and not isinstance(tls, Tls):
        raise TypeError(f"tls must be a Tls, not {tls!r}")
    if isinstance(initial_domains, str):  # its letters would be the names
        raise TypeError(f"initial_domains must be a list of names, not {initial_domains!r}")


def _check_numbers(check: Callable[[str, Any], None], **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            check(name, value)
