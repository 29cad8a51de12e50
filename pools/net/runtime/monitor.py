"""All pools and resolvers of the process as one snapshot in the shape of kang, also over HTTP."""

import resource
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakValueDictionary

from pools.logic.pool.slot import BUSY

if TYPE_CHECKING:
    from pools.net.dns.resolver import DNSResolver
    from pools.net.pool.pool import PoolShell
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVICE = "cueball"
VERSION = "1.0.0"
TYPES = ("pool", "set", "dns_res")


class PoolMonitor:
    """Know the live pools and resolvers without keeping them alive."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pools: WeakValueDictionary[str, PoolShell] = WeakValueDictionary()
        self._sets: WeakValueDictionary[str, PoolShell] = WeakValueDictionary()
        self._resolvers: WeakValueDictionary[str, DNSResolver] = WeakValueDictionary()
        self._started_at = datetime.now(UTC)
        self._when_used: Callable[[], None] | None = None

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
        return _resolver(subject) if type == "dns_res" else _pool(subject)

    def pools(self) -> list["PoolShell"]:
        """Return the live pools and sets of connections."""
        with self._lock:
            return [*self._pools.values(), *self._sets.values()]

    def lent(self) -> Counter[str]:
        """Return backend key → connections in use, over all pools and sets."""
        lent: Counter[str] = Counter()
        for pool in self.pools():
            with pool._lock:
                lent.update(s.key for s in pool.machine.slots.all() if s.state == BUSY)
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
            "set": {id: _pool(connections) for id, connections in sets[:most]},
            "dns_res": {id: _resolver(resolver) for id, resolver in resolvers[:most]},
        }

    def _register(self, known: WeakValueDictionary[str, Any], newcomer: Any) -> None:
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
        "backends": {key: _backend(backend) for key, backend in resolver.list().items()},
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


pool_monitor = PoolMonitor()


class KangServer:
    """Serve /kang/snapshot, /kang/types, /kang/objects/TYPE and /kang/obj/TYPE/ID."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self._server = ThreadingHTTPServer((address, port), _Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, name="kang", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body_facts = answer(pool_monitor, self.path)
        body = json.dumps(body_facts if body_facts is not None else {"error": "not found"}).encode()
        self.send_response(404 if body_facts is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: standard error belongs to the program."""


def answer(monitor: PoolMonitor, path: str) -> Any:
    match path.strip("/").split("/"):
        case ["kang", "snapshot"]:
            return monitor.snapshot()
        case ["kang", "types"]:
            return list(TYPES)
        case ["kang", "objects", kind] if kind in TYPES:
            return monitor.list_objects(kind)
        case ["kang", "obj", kind, id] if kind in TYPES and id in monitor.list_objects(kind):
            return monitor.get(kind, id)
    return None
