"""Find nameservers that are themselves named in DNS."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from pools.logic.dns.names import parse_host_port
from pools.net.runtime.fork import first_after_fork

if TYPE_CHECKING:
    from pools.net.dns.resolver import DNSResolver

SERVICE = "_dns._udp"
PORT = 53
FAN_OUT = 10
Permit = Callable[[str], bool]

Key = tuple[int, str, Permit | None]

_shared: dict[Key, "Bootstrap"] = {}
_lock = threading.RLock()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    _shared.clear()


first_after_fork(_after_fork)


def shared_bootstrap(name: str, first_user: "DNSResolver") -> "Bootstrap":
    """Return the one per driver, name and permit, which lives as long as somebody uses it."""
    key = (id(first_user.driver), name, first_user.permits)
    with _lock:
        if key not in _shared:
            _shared[key] = Bootstrap(key, first_user)
        return _shared[key]


class Bootstrap:
    """Ask the system's nameservers first, and from then on those that it found."""

    def __init__(self, key: Key, first_user: "DNSResolver") -> None:
        self._key = key
        behind = parse_host_port(key[1])
        self._users: list[DNSResolver] = []
        self._resolver = first_user.sibling(behind.host, SERVICE, behind.port or PORT, FAN_OUT)
        self._resolver.follow("updated", self._updated)

    def join(self, user: "DNSResolver") -> None:
        with _lock:
            self._users.append(user)
            self._resolver.start()
            servers = self._servers()
        if servers:
            user.use_nameservers(servers)

    def leave(self, user: "DNSResolver") -> None:
        with _lock:
            self._users.remove(user)
            if not self._users:
                _shared.pop(self._key, None)
                self._resolver.stop()

    def _updated(self, error: Exception | None) -> None:
        with _lock:
            users, servers = list(self._users), self._servers()
        if servers:
            self._resolver.use_nameservers(servers)
        for user in users:
            if servers:
                user.use_nameservers(servers)
            else:
                user.nameservers_missing(str(error or f"nobody behind {self._key[1]} may be asked"))

    def _servers(self) -> list[str]:
        servers = [backend.authority for backend in self._resolver.list().values()]
        permits = self._key[2]
        return [server for server in servers if permits is None or permits(server)]
