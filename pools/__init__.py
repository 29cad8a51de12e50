"""DNS and connections; the names of the library are imported when they are first used."""

from importlib import import_module
from typing import Any

_HOMES = {
    "AsyncConnectionPool": "pools.net.aio",
    "Backend": "pools.logic.backends",
    "ConnectionPool": "pools.net.pool",
    "ConnectionSet": "pools.net.connection_set",
    "DNSResolver": "pools.net.dns_resolver",
    "HttpAgent": "pools.net.agent",
    "HttpsAgent": "pools.net.agent",
    "HealthPolicy": "pools.logic.health",
    "OutlierPolicy": "pools.logic.outlier",
    "RecoverySpec": "pools.logic.recovery",
    "Resolver": "pools.net.resolver",
    "StalePolicy": "pools.logic.stale",
    "StaticIpResolver": "pools.net.resolver",
    "Tls": "pools.net.tls",
    "agent_adapter": "pools.net.requests_adapter",
    "asyncio_driver": "pools.net.aio",
    "pool_monitor": "pools.net.monitor",
    "resolver_for_ip_or_domain": "pools.net.pick_resolver",
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
