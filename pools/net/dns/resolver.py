"""The resolver that follows a name in DNS."""

import logging
import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

from pools.logic.backends import Backend
from pools.logic.dns.config import ResolverConfig
from pools.logic.dns.lookup import Ask, Forget, Step
from pools.logic.dns.names import dns_name
from pools.logic.dns.reply import LookupResult
from pools.logic.dns.resolver import Action, Added, Removed, ResolverMachine, StateChanged, Updated
from pools.logic.dns.ttl import StalePolicy, TtlLimits
from pools.logic.errors import ResolutionError
from pools.logic.recovery import RecoverySpec
from pools.net.dns.base import Resolver
from pools.net.dns.bootstrap import Bootstrap, Permit, shared_bootstrap
from pools.net.dns.nameservers import ipv6, split_resolvers, system_nameservers
from pools.net.dns.transport import DNSTransport, Exchange
from pools.net.runtime.driver import Driver, Timer, shared
from pools.net.runtime.events import logger_of
from pools.net.runtime.fork import keep
from pools.net.runtime.monitor import pool_monitor


class DNSResolver(Resolver):
    """Use SRV records if there are any, else AAAA and A. Times are in milliseconds."""

    def __init__(
        self,
        domain: str,
        recovery: Any,
        service: str = "_http._tcp",
        default_port: int = 80,
        resolvers: Sequence[str] = (),
        max_dns_concurrency: int = 5,
        ttl_floor: float = 5000.0,
        ttl_ceiling: float = 3600_000.0,
        stale: StalePolicy | None = None,
        srv_confirmations: int = 2,
        has_ipv6: bool | None = None,
        driver: Driver | None = None,
        transport: DNSTransport | None = None,
        chance: Callable[[], float] = random.random,
        system: Callable[[], list[str]] = system_nameservers,
        permits: Permit | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        if not isinstance(domain, str):
            raise TypeError(f"domain must be a string, not {type(domain).__name__}")
        super().__init__(driver)
        self._servers, self._behind = split_resolvers(resolvers)
        self.log = logger_of(log)
        self._system = system
        self.permits = permits  # which nameservers behind a name may be asked
        self._has_ipv6 = has_ipv6
        self._given_transport = transport
        self._transport = transport or shared(DNSTransport, self.driver)
        self._is_dormant = False
        self._lock = threading.RLock()
        self._asked: dict[int, Exchange] = {}
        self._timer: Timer | None = None
        self._bootstrap: Bootstrap | None = None
        self._machine = ResolverMachine(
            ResolverConfig(
                domain=dns_name(domain),
                recovery=RecoverySpec(recovery),
                service=service,
                default_port=default_port,
                max_dns_concurrency=max_dns_concurrency,
                ttl=TtlLimits(ttl_floor, ttl_ceiling),
                stale=stale or StalePolicy(),
                srv_confirmations=srv_confirmations,
            ),
            chance,
        )
        pool_monitor.register_resolver(self)

    # -- the interface -----------------------------------------------------------------------

    def start(self) -> None:
        with self._lock:
            if self._machine.state != "stopped":
                return
            self._machine.nameservers = list(self._servers)
            if not self._servers and self._behind is None:
                self._machine.nameservers = self._system()
            self._feed(lambda now: self._machine.start(now))
            if self._behind is not None:
                self._bootstrap = shared_bootstrap(self._behind, self)
                self._bootstrap.join(self)
            elif not self._machine.nameservers:
                self.nameservers_missing("there is none in /etc/resolv.conf")

    def stop(self) -> None:
        """Stop; no event follows but those of the state."""
        with self._lock:
            self._feed(lambda now: self._machine.stop())
            bootstrap, self._bootstrap = self._bootstrap, None
        if bootstrap is not None:
            bootstrap.leave(self)

    def after_fork(self) -> None:
        """Begin anew in a forked child, as soon as somebody asks for the backends."""
        keep(*self._asked.values())
        super().after_fork()
        self._lock = threading.RLock()
        self._transport = self._given_transport or shared(DNSTransport, self.driver)
        self._asked, self._timer, self._bootstrap = {}, None, None
        self._machine = self._machine.successor()
        self._is_dormant = self._machine.state != "stopped"

    def _awake(self) -> None:
        with self._lock:
            is_dormant, self._is_dormant = self._is_dormant, False
            if not is_dormant:
                return
            self._feed(self._machine.tick)
            if self._behind is not None:
                self._bootstrap = shared_bootstrap(self._behind, self)
                self._bootstrap.join(self)

    def wait_for_state(self, *states: str, timeout: float | None = None) -> str:
        self._awake()
        return super().wait_for_state(*states, timeout=timeout)

    def resolve_now(self) -> None:
        self._awake()
        self._feed(self._machine.resolve_now)

    @property
    def state(self) -> str:
        return self._machine.state

    @property
    def last_error(self) -> Exception | None:
        text = self._machine.last_error
        return None if text is None else ResolutionError(text)

    def known(self) -> dict[str, Backend]:
        """Return the backends without waking a resolver that rests in a forked child."""
        return dict(self._machine.backends)

    def list(self) -> dict[str, Backend]:
        if self._is_dormant:
            self._awake()
        return dict(self._machine.backends)

    def __repr__(self) -> str:
        known = len(self._machine.backends)
        return f"<DNSResolver {self.config.domain} {self.state}, {known} backends>"

    # -- what else can be seen ---------------------------------------------------------------

    @property
    def config(self) -> ResolverConfig:
        return self._machine.config

    @property
    def nameservers(self) -> Sequence[str]:
        return tuple(self._machine.nameservers)

    @property
    def trace(self) -> Sequence[Step]:
        """Return the latest questions: server, time taken, result, TTL, attempt."""
        with self._lock:
            return tuple(self._machine.trace)

    @property
    def stale_since(self) -> float | None:
        """Return a moment of the driver's clock."""
        with self._lock:
            return self._machine.records.stale_since()

    @property
    def counters(self) -> dict[str, int]:
        with self._lock:
            return dict(self._machine.counters)

    @property
    def pass_began_at(self) -> float:
        """Return when the latest look-up began, by the driver's clock."""
        return self._machine.pass_began_at

    @property
    def phase(self) -> str:
        return self._machine.phase

    def next_at(self) -> dict[str, float]:
        """Return when each kind of record is asked for again, by the driver's clock."""
        with self._lock:
            cache = self._machine.records
            times = {"srv": cache.srv_at, "v6": cache.next_at("AAAA"), "v4": cache.next_at("A")}
            return {**times, "wake": self._machine.wake_at}

    # -- for the bootstrap -------------------------------------------------------------------

    def sibling(self, domain: str, service: str, port: int, fan_out: int) -> "DNSResolver":
        """Make a resolver for another name, which begins with the system's nameservers."""
        return DNSResolver(
            domain,
            self.config.recovery,
            service,
            port,
            max_dns_concurrency=fan_out,
            ttl_floor=self.config.ttl.floor_ms,
            ttl_ceiling=self.config.ttl.ceiling_ms,
            stale=self.config.stale,
            has_ipv6=self._has_ipv6,
            driver=self.driver,
            transport=self._transport,
            system=self._system,
            log=self.log,
        )

    def use_nameservers(self, servers: Sequence[str]) -> None:
        self._feed(lambda now: self._machine.set_nameservers(servers, now))

    def nameservers_missing(self, error: str) -> None:
        self._feed(lambda now: self._machine.no_nameservers(error))

    # -- the machine and the world -----------------------------------------------------------

    def _feed(self, event: Callable[[float], Sequence[Action]]) -> None:
        """Give the machine one event, and do on the driver what it asks for."""
        with self._lock:
            self._machine.has_ipv6 = self._may_use_ipv6()
            actions = event(self.driver.now())
            self.driver.call_soon(lambda: self._do(actions))

    def _may_use_ipv6(self) -> bool:
        return ipv6.is_usable() if self._has_ipv6 is None else self._has_ipv6

    def _do(self, actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case Ask():
                    self._ask(action)
                case Forget(ask_id):
                    exchange = self._asked.pop(ask_id, None)
                    if exchange is not None:
                        exchange.cancel()
                case StateChanged(state):
                    self.emit("state", state)
                case _ if self._machine.state not in ("stopping", "stopped"):
                    self._announce(action)
        self._set_timer()

    def _ask(self, ask: Ask) -> None:
        def answered(outcome: LookupResult) -> None:
            self._asked.pop(ask.id, None)
            self._feed(lambda now: self._machine.answer(ask.id, outcome, now))

        def sent() -> None:
            self._feed(lambda now: self._machine.sent(ask.id, now))

        exchange = self._transport.ask(ask.server, ask.name, ask.rdtype, answered, sent)
        self._asked[ask.id] = exchange
        if not exchange.has_started:
            self._feed(lambda now: self._machine.hold(ask.id))

    def _announce(self, action: Action) -> None:
        match action:
            case Added(backend):
                self.note("debug", "%s: %s is new", self.config.domain, backend.where)
                self.emit("added", backend.key, backend)
            case Removed(backend):
                self.note("debug", "%s: %s is gone", self.config.domain, backend.where)
                self.emit("removed", backend.key)
            case Updated(error):
                if error is not None:
                    self.note("info", "%s", error)
                self.emit("updated", None if error is None else ResolutionError(error))

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._machine.wake_at < float("inf"):
            self._timer = self.driver.call_at(self._machine.wake_at, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._feed(self._machine.tick)
