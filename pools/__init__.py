"""Watch names in DNS and pool connections; library names are imported when first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, which do not run __getattr__
    from pools.contrib.requests_adapter import agent_adapter as agent_adapter
    from pools.logic.backends import Backend as Backend
    from pools.logic.dns.ttl import StalePolicy as StalePolicy
    from pools.logic.errors import AgentStoppedError as AgentStoppedError
    from pools.logic.errors import BackendConnectionError as BackendConnectionError
    from pools.logic.errors import CheckFailedError as CheckFailedError
    from pools.logic.errors import ClaimCancelledError as ClaimCancelledError
    from pools.logic.errors import ClaimError as ClaimError
    from pools.logic.errors import ClaimHandleMisusedError as ClaimHandleMisusedError
    from pools.logic.errors import ClaimQueueFullError as ClaimQueueFullError
    from pools.logic.errors import ClaimTimeoutError as ClaimTimeoutError
    from pools.logic.errors import ConnectionClosedError as ConnectionClosedError
    from pools.logic.errors import ConnectionTimeoutError as ConnectionTimeoutError
    from pools.logic.errors import InvalidInput as InvalidInput
    from pools.logic.errors import NoBackendsError as NoBackendsError
    from pools.logic.errors import PoolError as PoolError
    from pools.logic.errors import PoolExistsError as PoolExistsError
    from pools.logic.errors import PoolFailedError as PoolFailedError
    from pools.logic.errors import PoolsError as PoolsError
    from pools.logic.errors import PoolStoppingError as PoolStoppingError
    from pools.logic.errors import ProtocolError as ProtocolError
    from pools.logic.errors import ReadTimeoutError as ReadTimeoutError
    from pools.logic.errors import RequestError as RequestError
    from pools.logic.errors import ResolutionError as ResolutionError
    from pools.logic.errors import StatusError as StatusError
    from pools.logic.errors import TooManyRedirects as TooManyRedirects
    from pools.logic.errors import TotalTimeoutError as TotalTimeoutError
    from pools.logic.errors import WriteTimeoutError as WriteTimeoutError
    from pools.logic.pool.health import HealthPolicy as HealthPolicy
    from pools.logic.pool.health import OutlierPolicy as OutlierPolicy
    from pools.logic.recovery import RecoverySpec as RecoverySpec
    from pools.net.dns.base import Resolver as Resolver
    from pools.net.dns.base import StaticIpResolver as StaticIpResolver
    from pools.net.dns.pick import resolver_for_ip_or_domain as resolver_for_ip_or_domain
    from pools.net.dns.resolver import DNSResolver as DNSResolver
    from pools.net.http.agent import HttpAgent as HttpAgent
    from pools.net.http.agent import HttpsAgent as HttpsAgent
    from pools.net.http.async_agent import AsyncHttpAgent as AsyncHttpAgent
    from pools.net.http.async_agent import AsyncHttpsAgent as AsyncHttpsAgent
    from pools.net.http.message import Timeout as Timeout
    from pools.net.http.response import AsyncResponse as AsyncResponse
    from pools.net.http.response import Response as Response
    from pools.net.http.tls import Tls as Tls
    from pools.net.pool.asyncio import AsyncConnectionPool as AsyncConnectionPool
    from pools.net.pool.asyncio import asyncio_driver as asyncio_driver
    from pools.net.pool.connection_set import ConnectionSet as ConnectionSet
    from pools.net.pool.pool import ConnectionPool as ConnectionPool
    from pools.net.runtime.kang import KangServer as KangServer
    from pools.net.runtime.monitor import pool_monitor as pool_monitor

_HOMES = {
    "AsyncConnectionPool": "pools.net.pool.asyncio",
    "Backend": "pools.logic.backends",
    "ConnectionPool": "pools.net.pool.pool",
    "ConnectionSet": "pools.net.pool.connection_set",
    "DNSResolver": "pools.net.dns.resolver",
    "HttpAgent": "pools.net.http.agent",
    "HttpsAgent": "pools.net.http.agent",
    "KangServer": "pools.net.runtime.kang",
    "HealthPolicy": "pools.logic.pool.health",
    "OutlierPolicy": "pools.logic.pool.health",
    "RecoverySpec": "pools.logic.recovery",
    "Resolver": "pools.net.dns.base",
    "StalePolicy": "pools.logic.dns.ttl",
    "StaticIpResolver": "pools.net.dns.base",
    "Response": "pools.net.http.response",
    "AsyncResponse": "pools.net.http.response",
    "AsyncHttpAgent": "pools.net.http.async_agent",
    "AsyncHttpsAgent": "pools.net.http.async_agent",
    "Timeout": "pools.net.http.message",
    "Tls": "pools.net.http.tls",
    "agent_adapter": "pools.contrib.requests_adapter",
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
            "PoolsError",
            "ProtocolError",
            "ReadTimeoutError",
            "RequestError",
            "StatusError",
            "TooManyRedirects",
            "TotalTimeoutError",
            "WriteTimeoutError",
            "PoolExistsError",
            "PoolFailedError",
            "PoolStoppingError",
            "ResolutionError",
        ),
        "pools.logic.errors",
    ),
}

__all__ = sorted(_HOMES.keys() - {"agent_adapter"})  # which needs requests


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
