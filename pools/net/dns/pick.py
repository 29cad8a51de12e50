"""Choose the right resolver for what a person typed."""

import logging
from collections.abc import Mapping
from typing import Any

from pools.logic.dns.names import HostPort, parse_host_port
from pools.logic.errors import InvalidInput
from pools.net.dns.base import Resolver, StaticIpResolver
from pools.net.dns.resolver import DNSResolver

log = logging.getLogger("pools")

STATIC_OPTIONS = ("default_port", "driver")


def resolver_for_ip_or_domain(
    input: str, resolver_config: Mapping[str, Any] | None = None
) -> Resolver:
    """Return a static resolver or one for DNS; a port in the text overrides the default."""
    if resolver_config is not None and not isinstance(resolver_config, Mapping):
        raise TypeError("resolver_config must be a mapping")
    config = dict(resolver_config or {})
    parsed = parse_host_port(input)
    if parsed.is_ambiguous:
        log.warning("%s is taken as an address without a port; use brackets for one", input)
    if parsed.port is not None:
        config["default_port"] = parsed.port
    return _static(parsed, config) if parsed.is_ip else DNSResolver(parsed.host, **config)


def _static(parsed: HostPort, config: dict[str, Any]) -> StaticIpResolver:
    if config.get("default_port") is None:
        raise InvalidInput(f"{parsed.host} needs a port")
    known = {name: config[name] for name in STATIC_OPTIONS if name in config}
    return StaticIpResolver([{"address": parsed.host}], **known)
