"""Decide which nameservers may be asked and which addresses DNS may bring in, by the settings."""

from collections.abc import Iterable, Sequence

from django.conf import settings

from pools.logic.dns.address_policy import is_permitted, is_special, parse_permit
from pools.logic.dns.names import dns_name, parse_host_port
from pools.logic.errors import InvalidInput
from pools.net.dns.nameservers import split_resolvers, system_nameservers

DNS_PORT = 53


class NotPermitted(InvalidInput):
    """This installation does not let anybody ask that nameserver."""


def default_nameservers() -> list[str]:
    """Return the nameservers of the settings, or else those of the system; never any others."""
    return list(settings.ATRIBUTO.dns_servers) or system_nameservers()


def check_nameservers(servers: Sequence[str]) -> None:
    """Accept permitted addresses, or one name, whose addresses are checked when they are found."""
    _, behind = split_resolvers(servers)
    if behind is not None:
        dns_name(parse_host_port(behind).host)
        return
    for server in servers:
        if not may_be_asked(server):
            raise NotPermitted(
                f"{server} may not be asked: ATRIBUTO_DNS_SERVER_NETWORKS does not permit it"
            )


def may_be_asked(server: str) -> bool:
    """Check an address with or without a port."""
    parsed = parse_host_port(server)
    port = parsed.port or DNS_PORT
    if _is_known(parsed.host, port, default_nameservers()):
        return True
    permits = [parse_permit(text, DNS_PORT) for text in settings.ATRIBUTO.dns_server_networks]
    return is_permitted(parsed.host, port, permits)


def refused_target(address: str, port: int) -> str:
    """Say why DNS may not bring in this address; an empty text if it may."""
    if not is_special(address):
        return ""
    permits = [parse_permit(text, None) for text in settings.ATRIBUTO.dns_target_networks]
    if is_permitted(address, port, permits):
        return ""
    return f"{address} is not permitted: ATRIBUTO_DNS_TARGET_NETWORKS does not name it"


def default_floor_ms() -> int:
    return settings.ATRIBUTO.dns_ttl_floor_ms


def default_ceiling_ms() -> int:
    return settings.ATRIBUTO.dns_ttl_ceiling_ms


def _is_known(host: str, port: int, servers: Iterable[str]) -> bool:
    known = [parse_host_port(server) for server in servers]
    return any((server.host, server.port or DNS_PORT) == (host, port) for server in known)
