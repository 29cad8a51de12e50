"""Choose whom to ask: the given nameservers, those of /etc/resolv.conf, or those behind a name."""

import os
import socket
import time
from collections.abc import Sequence

from pools.logic.backends import is_address
from pools.logic.dns.names import parse_host_port
from pools.logic.errors import InvalidInput

RESOLV_CONF = "/etc/resolv.conf"
IPV6_BELIEVED_SECONDS = 60.0
DOCUMENTATION_ADDRESS = "2001:db8::1"


def nameservers_of(text: str) -> list[str]:
    """Return the addresses after the word `nameserver`; ignore everything else."""
    servers = []
    for line in text.splitlines():
        words = line.replace(";", "#").partition("#")[0].split()
        if len(words) >= 2 and words[0] == "nameserver" and is_address(words[1]):
            servers.append(words[1])
    return list(dict.fromkeys(servers))


def system_nameservers(path: "str | os.PathLike[str]" = RESOLV_CONF) -> list[str]:
    """Return nothing if the file cannot be read or names none: nobody else is asked instead."""
    try:
        with open(path, errors="replace") as file:
            return nameservers_of(file.read())
    except OSError:
        return []


def split_resolvers(resolvers: Sequence[str] | str) -> tuple[list[str], str | None]:
    """Return addresses to ask, or the one name behind which they are found.

    A single string is what the original calls the dynamic mode, or one address.
    """
    if isinstance(resolvers, str):
        resolvers = [resolvers]
    if not isinstance(resolvers, Sequence) or not all(isinstance(r, str) for r in resolvers):
        raise TypeError(f"resolvers must be a string or a list of strings, not {resolvers!r}")
    parsed = [(text, parse_host_port(text)) for text in resolvers]
    names = [host.host if host.port is None else text for text, host in parsed if not host.is_ip]
    if len(names) > 1 or (names and len(parsed) > 1):
        raise InvalidInput("resolvers may hold addresses, or one single name")
    return [text for text, host in parsed if host.is_ip], names[0] if names else None


class IPv6:
    """Check whether this host can send to IPv6 addresses, at most once a minute."""

    def __init__(self) -> None:
        self._until = 0.0
        self._answer = False

    def is_usable(self) -> bool:
        now = time.monotonic()
        if now >= self._until:
            self._answer = _has_route()
            self._until = now + IPV6_BELIEVED_SECONDS
        return self._answer


def _has_route() -> bool:
    """Connect a datagram socket, which sends nothing and fails when there is no route."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect((DOCUMENTATION_ADDRESS, 53))
    except OSError:
        return False
    return True


ipv6 = IPv6()
