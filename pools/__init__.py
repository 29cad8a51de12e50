"""Watch names in DNS and pool connections; library names are imported when first used."""

from importlib import import_module
from typing import Any

_HOMES = {
    "AsyncConnectionPool": "pools.net.pool.asyncio",
    "Backend": "pools.logic.backends",
    "ConnectionPool": "pools.net.pool.pool",
    "ConnectionSet": "pools.net.pool.connection_set",
    "DNSResolver": "pools.net.dns.resolver",
    "HttpAgent": "pools.net.http.agent",
    "HttpsAgent": "pools.net.http.agent",
    "KangServer": "pools.net.runtime.monitor",
    "HealthPolicy": "pools.logic.pool.health",
    "OutlierPolicy": "pools.logic.pool.health",
    "RecoverySpec": "pools.logic.recovery",
    "Resolver": "pools.net.dns.base",
    "StalePolicy": "pools.logic.dns.ttl",
    "StaticIpResolver": "pools.net.dns.base",
    "Tls": "pools.net.http.tls",
    "agent_adapter": "pools.net.http.requests_adapter",
    "asyncio_driver": "pools.net.pool.asyncio",
    "pool_monitor": "pools.net.runtime.monitor",
    "resolver_for_ip_or_domain": "pools.net.dns.pick",
    **dict.fromkeys(
        (
            "AgentStoppedError",
            "BackendConnectionError",
            "CheckFailedError",
            "ClaimCancelledError",
            "ClaimError",
            "ClaimHandleMisusedError",
            "ClaimQueueFullError",
            "ClaimTimeoutError",
            "ConnectionClosedError",
            "ConnectionTimeoutError",
            "InvalidInput",
            "NoBackendsError",
            "PoolError",
            "PoolExistsError",
            "PoolFailedError",
            "PoolStoppingError",
            "ResolutionError",
        ),
        "pools.logic.errors",
    ),
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
