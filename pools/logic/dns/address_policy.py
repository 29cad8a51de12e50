"""Decide which addresses may be asked, and which may be brought in by DNS."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pools.logic.errors import InvalidInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

PERMIT = re.compile(r"(?:\[(?P<v6>[^\]]*)\]|(?P<v4>[^:\[\]]+))(?::(?P<port>\*|[0-9]{1,5}))?\Z")
THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")
# Clouds hand out credentials at these addresses; link-local ones are refused anyway.
METADATA = {ipaddress.ip_address("100.100.100.200"), ipaddress.ip_address("fd00:ec2::254")}


@dataclass(frozen=True, slots=True)
class Permit:
    """Permit a network with a port; None stands for every port."""

    network: Network
    port: int | None

    def covers(self, address: Address, port: int) -> bool:
        return address in self.network and self.port in (None, port)


def parse_permit(text: str, default_port: int | None) -> Permit:
    """Parse NETWORK, NETWORK:PORT or NETWORK:*; brackets enclose an IPv6 network with a port."""
    bare = _network(text)
    if bare is not None:
        return Permit(bare, default_port)
    match = PERMIT.match(text)
    network = _network(match["v6"] or match["v4"]) if match else None
    if match is None or network is None:
        raise InvalidInput(f"not a network with or without a port: {text!r}")
    return Permit(network, _port(match["port"], default_port, text))


def is_permitted(address: str, port: int, permits: Iterable[Permit]) -> bool:
    plain = unwrapped(address)
    return any(permit.covers(plain, port) for permit in permits)


def is_special(address: str) -> bool:
    """Return True for loopback, link-local, multicast and reserved: no service is there."""
    plain = unwrapped(address)
    if plain.version == 6:
        plain = plain.sixtofour or plain  # a tunnel ends at the IPv4 address inside
    return (
        plain.is_loopback
        or plain.is_link_local
        or plain.is_multicast
        or plain.is_unspecified
        or plain in THIS_NETWORK
        or plain.is_reserved
        or plain in METADATA
    )


def unwrapped(address: str) -> Address:
    """Return the IPv4 address inside an IPv6 one, and drop a scope."""
    plain = ipaddress.ip_address(address.partition("%")[0])
    mapped = plain.ipv4_mapped if plain.version == 6 else None
    return mapped or plain


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _port(text: str | None, default: int | None, whole: str) -> int | None:
    if text is None or text == "*":
        return default if text is None else None
    if not 1 <= int(text) <= 65535:
        raise InvalidInput(f"unsupported port in: {whole!r}")
    return int(text)
