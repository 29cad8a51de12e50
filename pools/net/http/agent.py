"""HTTP clients that keep a pool of connections for every host they talk to."""

import http.client
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from urllib3.exceptions import HTTPError, LocationParseError, UnrewindableBodyError
from urllib3.response import HTTPResponse
from urllib3.util.request import rewind_body, set_file_position
from urllib3.util.url import Url, parse_url

from pools.logic.errors import AgentStoppedError, InvalidInput, PoolExistsError
from pools.logic.pool.config import PoolConfig
from pools.logic.recovery import RecoverySpec
from pools.net.dns.base import Resolver
from pools.net.dns.pick import resolver_for_ip_or_domain
from pools.net.http.connection import connection_maker, ping_checker
from pools.net.http.lease import FAILING, Lease, take_lease
from pools.net.http.tls import Tls
from pools.net.pool.pool import ConnectionPool

IDEMPOTENT = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"}
FAULTS = (OSError, EOFError, http.client.HTTPException, HTTPError)
Key = tuple[str, int, Tls]


class HttpAgent:
    """Times are in milliseconds. `ping` is a path to check idle connections with."""

    scheme = "http"
    port = 80

    def __init__(
        self,
        *,
        recovery: Any,
        spares: int,
        maximum: int,
        resolvers: Iterable[str] = (),
        default_port: int | None = None,
        initial_domains: Iterable[str] = (),
        tcp_keep_alive_initial_delay: float | None = None,
        ping: str | None = None,
        ping_interval: float = 30_000.0,
        ping_limit: float = 2000.0,
        error_on_empty: bool = False,
        claim_timeout: float | None = None,
        tls: Tls | None = None,
        resolver_options: Mapping[str, Any] | None = None,
        **limits: Any,
    ) -> None:
        if isinstance(resolvers, str):
            raise TypeError("resolvers must be a list of strings")
        limits |= {"spares": spares, "maximum": maximum}
        PoolConfig(recovery=RecoverySpec(recovery), **limits)  # refuses early
        self._recovery = recovery
        self._tls = tls or Tls()
        self._default_port = default_port or self.port
        self._keep_alive_ms = tcp_keep_alive_initial_delay
        self._error_on_empty = error_on_empty
        self._claim_timeout = claim_timeout
        self._resolver_config = {
            "recovery": recovery,
            "service": f"_{self.scheme}._tcp",
            "resolvers": list(resolvers),
            **(resolver_options or {}),
        }
        self._pool_options = limits
        if ping is not None:
            checker = ping_checker(ping, ping_limit)
            check = {"checker": checker, "check_timeout": ping_interval, "check_limit": ping_limit}
            self._pool_options |= check
        self._lock = threading.Lock()
        self._pools: dict[Key, ConnectionPool] = {}
        self._own_resolvers: dict[Key, Resolver] = {}
        self._is_stopped = False
        for domain in initial_domains:
            self.create_pool(domain)

    # -- requests ----------------------------------------------------------------------------

    def request(
        self,
        method: str,
        url: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,
        claim_timeout: float | None = None,
        preload_content: bool = True,
        decode_content: bool = True,
        tls: Tls | None = None,
    ) -> HTTPResponse:
        """Make one request; `timeout` limits every wait for the network, not the whole exchange.

        With `preload_content=False` the caller reads the response to its end, or closes it.
        """
        if timeout is not None and not timeout > 0:
            raise InvalidInput(f"timeout must be positive: {timeout}")
        target = _parsed(url)
        pool = self._pool_for(target, tls or self._tls)
        path = target.request_uri
        options = {"preload_content": preload_content, "decode_content": decode_content}
        wait_ms = self._claim_timeout if claim_timeout is None else claim_timeout
        begin = set_file_position(body, None)
        while True:
            lease = take_lease(pool, wait_ms, self._error_on_empty)
            try:
                return _exchange(lease, method, path, body, headers, timeout, options)
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                # A kept connection may die just as it is used again; a new one does not.
                if not lease.is_used or method.upper() not in IDEMPOTENT:
                    raise
                if not _is_whole_again(body, begin):
                    raise

    def _pool_for(self, target: Url, tls: Tls) -> ConnectionPool:
        if target.scheme != self.scheme:
            raise InvalidInput(f"this agent speaks {self.scheme}, not {target.scheme}")
        if not target.host:
            raise InvalidInput("the URL names no host")
        key = self._key(target.host, target.port, tls)
        pool = self._pools.get(key)
        if pool is None or self._is_stopped:
            with self._lock:
                self._check_running()
                pool = self._pools.get(key) or self._add_pool(key, None)
        return pool

    # -- pools -------------------------------------------------------------------------------

    def get_pool(
        self, host: str, port: int | None = None, tls: Tls | None = None
    ) -> ConnectionPool | None:
        return self._pools.get(self._key(host, port, tls or self._tls))

    def create_pool(
        self,
        host: str,
        port: int | None = None,
        resolver: Resolver | None = None,
        tls: Tls | None = None,
    ) -> ConnectionPool:
        """Make the pool of a host beforehand; a given resolver is neither started nor stopped."""
        key = self._key(host, port, tls or self._tls)
        with self._lock:
            self._check_running()
            if key in self._pools:
                raise PoolExistsError(f"there is a pool for {key[0]}:{key[1]} already")
            return self._add_pool(key, resolver)

    def _key(self, host: str, port: int | None, tls: Tls) -> Key:
        """Include the TLS settings in the key only where there is TLS."""
        if self.scheme == "http":
            tls = self._tls
        return host.strip("[]").rstrip(".").lower(), port or self._default_port, tls

    def _add_pool(self, key: Key, resolver: Resolver | None) -> ConnectionPool:
        host, port, tls = key
        constructor = connection_maker(self.scheme, host, port, tls, self._keep_alive_ms)
        if resolver is None:
            resolver = resolver_for_ip_or_domain(
                host, {**self._resolver_config, "default_port": port}
            )
            self._own_resolvers[key] = resolver
        pool = ConnectionPool(
            constructor=constructor,
            resolver=resolver,
            domain=host,
            service=f"_{self.scheme}._tcp",
            default_port=port,
            recovery=self._recovery,
            **self._pool_options,
        )
        if key in self._own_resolvers:
            resolver.start()
        self._pools[key] = pool
        return pool

    # -- the end -----------------------------------------------------------------------------

    def stop(self, drain: float | None = None) -> None:
        """Stop every pool at once, and each resolver of ours after its pool."""
        with self._lock:
            self._check_running()
            self._is_stopped = True
        for key, pool in self._pools.items():
            resolver = self._own_resolvers.get(key)
            if resolver is not None:
                pool.on_state("stopped", resolver.stop)
            pool.stop(drain)

    def is_stopped(self) -> bool:
        return self._is_stopped

    def wait_stopped(self, timeout: float | None = None) -> None:
        for pool in self._pools.values():
            pool.wait_for_state("stopped", timeout=timeout)

    def _check_running(self) -> None:
        if self._is_stopped:
            raise AgentStoppedError("the agent is stopped")


class HttpsAgent(HttpAgent):
    """Check the certificate against the host of the URL, whatever backend serves it."""

    scheme = "https"
    port = 443


def _verdict(error: BaseException) -> bool | None:
    """Count only what the network or the server did against a backend."""
    is_request = isinstance(error, http.client.InvalidURL)  # it could not even be sent
    return False if isinstance(error, FAULTS) and not is_request else None


def _parsed(url: str) -> Url:
    try:
        return parse_url(url)
    except LocationParseError as error:
        raise InvalidInput(str(error)) from error


def _is_whole_again(body: Any, begin: Any) -> bool:
    """Rewind a file to its `begin` for another try; a used-up iterator cannot be rewound."""
    if begin is None:
        return not hasattr(body, "__next__")
    try:
        rewind_body(body, begin)
    except (UnrewindableBodyError, ValueError):
        return False
    return True


def _exchange(
    lease: Lease,
    method: str,
    path: str,
    body: Any,
    headers: Mapping[str, str] | None,
    timeout_ms: float | None,
    options: Mapping[str, bool],
) -> HTTPResponse:
    connection = lease.connection
    try:
        connection.timeout = None if timeout_ms is None else timeout_ms / 1000.0
        connection.request(method, path, body=body, headers=headers, **options)
        response = connection.getresponse()
    except BaseException as error:  # an interrupt leaves it half read, too
        lease.break_off(_verdict(error))
        raise
    if options["preload_content"]:
        lease.end(response.status < FAILING)
    else:
        lease.follow(response)
    return response
