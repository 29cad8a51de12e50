"""Decide whether a request's address is its client's own, or one that others may share."""

import ipaddress
from typing import Any

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "::"  # no client has it
# Headers that proxies add to the requests of others.
FORWARDING = (
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_REAL_IP",
    "HTTP_FORWARDED",
    "HTTP_VIA",
)


def own_address(request: Any) -> str:
    """Return UNKNOWN behind an unnamed proxy, and on this machine, which may be one.

    The web server has already replaced the address of a named proxy by the client's.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if any(header in request.META for header in FORWARDING):
        is_own = address == _client_of(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    else:
        is_own = not _may_be_a_proxys(address)
    return address if is_own and _read(address) else UNKNOWN


def limited_by(request: Any, credentials: Any = None) -> list[str]:
    """Tell axes what to count wrong passwords by: the address only if it is the client's own."""
    is_request = isinstance(request, HttpRequest)
    address = own_address(request) if is_request else request.ip_address
    return ["username"] if address == UNKNOWN else ["ip_address", "username"]


def _client_of(forwarded_for: str) -> str:
    """Return the last address that is no proxy of ours: each proxy appends its client."""
    hosts = [_without_port(host.strip()) for host in forwarded_for.split(",")]
    return next((host for host in reversed(hosts) if not _is_proxy(host)), "")


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host


def _may_be_a_proxys(address: str) -> bool:
    parsed = _read(address)
    return parsed is not None and (parsed.is_loopback or _is_proxy(address))


def _is_proxy(address: str) -> bool:
    parsed = _read(address)
    networks = map(ipaddress.ip_network, settings.ATRIBUTO.proxies)
    return parsed is not None and any(parsed in network for network in networks)


def _read(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Read ::ffff:10.0.0.7 as 10.0.0.7; None for a socket, and for text that is no address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed
