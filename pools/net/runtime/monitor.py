"""All pools and resolvers of the process as one snapshot in the shape of kang."""

import resource
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from pools.net.runtime.fork import renew_after_fork

if TYPE_CHECKING:
    from pools.net.dns.resolver import DNSResolver
    from pools.net.pool.shell import PoolShell

SERVICE = "cueball"
VERSION = "1.0.0"
TYPES = ("pool", "set", "dns_res")


class PoolMonitor:
    """Know the live pools and resolvers without keeping them alive."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._pools: WeakValueDictionary[str, PoolShell] = WeakValueDictionary()
        self._sets: WeakValueDictionary[str, PoolShell] = WeakValueDictionary()
        self._resolvers: WeakValueDictionary[str, DNSResolver] = WeakValueDictionary()
        self._started_at = datetime.now(UTC)
        self._when_used: Callable[[], None] | None = None

    def after_fork(self) -> None:
        self._lock = threading.RLock()

    def register_pool(self, pool: "PoolShell") -> None:
        self._register(self._of(pool.kang_type), pool)

    def register_resolver(self, resolver: "DNSResolver") -> None:
        self._register(self._resolvers, resolver)

    def when_used(self, call: Callable[[], None]) -> None:
        """Call this once, as soon as the process makes its next pool or resolver."""
        with self._lock:
            self._when_used = call

    def to_kang_options(self) -> dict[str, Any]:
        """Return options for a kang server, to which the caller adds the port."""
        return {
            "uri_base": "/kang",
            "service_name": SERVICE,
            "version": VERSION,
            "ident": socket.gethostname(),
            "list_types": lambda: list(TYPES),
            "list_objects": self.list_objects,
            "get": self.get,
            "stats": dict,
        }

    def list_objects(self, type: str) -> list[str]:
        with self._lock:
            return list(self._of(type))

    def get(self, type: str, id: str) -> dict[str, Any]:
        with self._lock:
            subject = self._of(type)[id]
        return KINDS[type](subject)

    def pools(self) -> list["PoolShell"]:
        """Return the live pools and sets of connections."""
        with self._lock:
            return [*self._pools.values(), *self._sets.values()]

    def lent(self) -> Counter[str]:
        """Return backend key → connections in use, over all pools and sets."""
        lent: Counter[str] = Counter()
        for pool in self.pools():
            with pool._lock:
                lent.update(slot.key for slot in pool.machine.lent())
        return lent

    def snapshot(self, most: int | None = None) -> dict[str, Any]:
        """Return at most so many of each kind; `stats` counts all of them."""
        with self._lock:
            pools, sets = list(self._pools.items()), list(self._sets.items())
            resolvers = list(self._resolvers.items())
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {
            "service": {"name": SERVICE, "ident": socket.gethostname(), "version": VERSION},
            "stats": {
                "started": _iso(self._started_at),
                "memory": {"rss_kb": memory},
                "counts": {"pool": len(pools), "set": len(sets), "dns_res": len(resolvers)},
            },
            "types": list(TYPES),
            "pool": {id: _pool(pool) for id, pool in pools[:most]},
            "set": {id: _set(connections) for id, connections in sets[:most]},
            "dns_res": {id: _resolver(resolver) for id, resolver in resolvers[:most]},
        }

    def _register(self, known: WeakValueDictionary[str, Any], newcomer: Any) -> None:
        from uuid import uuid4  # here, because importing it takes as long as ten pools

        with self._lock:
            known[str(uuid4())] = newcomer
            call, self._when_used = self._when_used, None
        if call is not None:
            call()

    def _of(self, type: str) -> WeakValueDictionary[str, Any]:
        known: dict[str, WeakValueDictionary[str, Any]] = {
            "pool": self._pools,
            "set": self._sets,
            "dns_res": self._resolvers,
        }
        return known[type]


def _pool(pool: "PoolShell") -> dict[str, Any]:
    machine = pool.machine
    with pool._lock:
        connections: dict[str, Counter[str]] = {key: Counter() for key in machine.roster.backends}
        for slot in machine.slots.all():
            connections.setdefault(slot.key, Counter())[slot.state] += 1
        at = machine.shape.last_rebalance_at
        return {
            "backends": {key: _backend(b) for key, b in machine.roster.backends.items()},
            "connections": {key: dict(states) for key, states in connections.items()},
            "dead_backends": list(machine.roster.dead),
            "why_dead": {key: str(death.error) for key, death in machine.roster.dead.items()},
            "ejected_backends": list(machine.roster.outliers.ejected),
            "last_rebalance": None if at is None else round(_unix(at - pool.now())),
            "resolvers": list(getattr(pool.resolver, "nameservers", ())),
            "state": machine.state,
            "counters": machine.stats()["counters"],
            "waiters": len(machine.queue),
            "claim_wait_p95_ms": machine.queue.wait_p95_ms(),
            "target": machine.demand(),
            "options": {
                "domain": machine.config.domain,
                "service": pool.service,
                "defaultPort": pool.default_port,
                "spares": machine.config.spares,
                "maximum": machine.config.maximum,
            },
        }


def _set(connections: "PoolShell") -> dict[str, Any]:
    """Return the facts of a set: its machines by state, and the keys of what is announced."""
    facts = _pool(connections)
    with connections._lock:
        announced = [slot.holder for slot in connections.machine.slots.all() if slot.holder]
    maximum = connections.machine.config.maximum
    fsms = {key: states for key, states in facts["connections"].items() if states}
    return {**facts, "fsms": fsms, "connections": announced, "maximum": maximum}


def _resolver(resolver: "DNSResolver") -> dict[str, Any]:
    now = resolver.driver.now()
    since = resolver.stale_since
    return {
        "domain": resolver.config.domain,
        "service": resolver.config.service,
        "resolvers": list(resolver.nameservers),
        "defaultPort": resolver.config.default_port,
        "state": resolver.phase,
        "next": {kind: _moment(at - now) for kind, at in resolver.next_at().items()},
        "backends": {key: _backend(backend) for key, backend in resolver.known().items()},
        "counters": resolver.counters,
        "stale_since": None if since is None else _moment(since - now),
        "last_error": None if resolver.last_error is None else str(resolver.last_error),
    }


def _backend(backend: Any) -> dict[str, Any]:
    names = ("name", "address", "port", "key", "priority", "weight")
    return {name: getattr(backend, name) for name in names}


def _unix(ms_from_now: float) -> float:
    return time.time() + ms_from_now / 1000.0


def _moment(ms_from_now: float) -> str | None:
    if abs(ms_from_now) == float("inf"):
        return None
    return _iso(datetime.fromtimestamp(_unix(ms_from_now), UTC))


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


KINDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "pool": _pool,
    "set": _set,
    "dns_res": _resolver,
}
pool_monitor = PoolMonitor()
renew_after_fork(pool_monitor)
