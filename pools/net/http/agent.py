"""HTTP clients that keep a pool of connections for every host they talk to."""

import time
from types import TracebackType
from typing import Any, Self, Unpack

from pools.logic.errors import (
    ClaimTimeoutError,
    PoolStoppingError,
    RequestError,
    TooManyRedirects,
)
from pools.logic.numbers import check_count, check_wait
from pools.net.http.connection import Dialer, ping_checker
from pools.net.http.headers import Pairs
from pools.net.http.host_pools import HostPools
from pools.net.http.lease import Deadline, Disconnected, take_lease
from pools.net.http.message import (
    REDIRECTS,
    Address,
    Prepared,
    RequestOptions,
    Timeout,
    may_repeat,
    prepare,
    redirected,
    timeout_of,
)
from pools.net.http.response import Response
from pools.net.http.tls import Tls
from pools.net.pool.pool import ConnectionPool
from pools.net.pool.shell import DRAIN_MS

IDEMPOTENT = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"}
WORTH_ANOTHER_TRY = {502, 503, 504}
FIRST_DELAY = 0.1
MOST_DELAY = 5.0


class HttpAgent(HostPools[ConnectionPool]):
    """Options under names of the original are in milliseconds, `timeout` is in seconds.

    `ping` is a path to check idle connections with.
    """

    _other: "HttpAgent | None" = None

    def request(
        self,
        method: str,
        url: str,
        body: Any = None,
        headers: Pairs = None,
        *,
        params: Any = None,
        data: Any = None,
        json: Any = None,
        timeout: float | Timeout | None = None,
        claim_timeout: float | None = None,
        stream: bool = False,
        preload_content: bool = True,
        decode_content: bool = True,
        redirects: int = 0,
        retries: int = 0,
        tls: Tls | None = None,
    ) -> Response:
        """Make a request and return its answer, read whole unless `stream` is set.

        Follow up to `redirects` redirects. Repeat up to `retries` times what is safe to repeat,
        when the connection breaks or the answer is 502, 503 or 504.
        """
        limits = timeout_of(timeout, self._timeout)
        request = prepare(
            method, url, headers=headers, params=params, body=body, data=data, json_value=json
        )
        check_count("redirects", redirects)
        call = _Call(limits, claim_timeout, decode_content, tls, retries)
        response, history = self._once(request, call, url), []
        for _ in range(redirects):
            location = response.headers.get("location")
            if response.status not in REDIRECTS or location is None:
                break
            history.append(_emptied(response))
            request, url = redirected(request, response.status, location)
            response = self._for(request.address)._once(request, call, url)
        else:
            if redirects and response.status in REDIRECTS and "location" in response.headers:
                response.close()
                raise TooManyRedirects(f"more than {redirects} redirects, the last to {url}")
        response.history = history
        if stream or not preload_content:
            return response.begin_stream()
        response.read()
        return response

    def get(self, url: str, **options: Unpack[RequestOptions]) -> Response:
        return self.request("GET", url, **options)

    def head(self, url: str, **options: Unpack[RequestOptions]) -> Response:
        return self.request("HEAD", url, **options)

    def post(self, url: str, **options: Unpack[RequestOptions]) -> Response:
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Unpack[RequestOptions]) -> Response:
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Unpack[RequestOptions]) -> Response:
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Unpack[RequestOptions]) -> Response:
        return self.request("DELETE", url, **options)

    def _once(self, request: Prepared, call: "_Call", url: str) -> Response:
        """Make one request, again if that is safe and wanted."""
        is_safe = request.method in IDEMPOTENT
        retries = call.retries if is_safe else 0
        for attempt in range(retries + 1):
            is_last = attempt == retries or not may_repeat(request)
            try:
                response = self._attempt(request, call, url, is_safe)
            except (RequestError, ClaimTimeoutError):
                call.deadline.limit(None)
                if is_last:
                    raise
            else:
                if is_last or response.status not in WORTH_ANOTHER_TRY:
                    return response
                response.close()
            time.sleep(call.deadline.limit(min(FIRST_DELAY * 2**attempt, MOST_DELAY)) or 0.0)
        raise AssertionError("the last attempt returns or raises")

    def _attempt(self, request: Prepared, call: "_Call", url: str, is_safe: bool) -> Response:
        while True:
            pool = self.pool_for(request.address, call.tls)
            try:
                lease = take_lease(pool, self._wait_ms(call), self._error_on_empty)
            except PoolStoppingError:  # nobody had used it for long
                self._check_running()
                if self._pools.get(self._key(*request.address[1:3], call.tls or self._tls)) is pool:
                    raise
                continue
            try:
                return lease.exchange(request, call.timeout, call.deadline, call.decode, url)
            except Disconnected:
                # A kept connection may die just as it is used again; a new one does not.
                if not is_safe or not may_repeat(request):
                    raise

    def _wait_ms(self, call: "_Call") -> float | None:
        if self._options.get("target_claim_delay") is not None:
            return None  # controlled delay decides how long claims wait
        given = self._claim_timeout if call.claim_timeout is None else call.claim_timeout
        seconds = call.timeout.connect if given is None else given / 1000.0
        limit = call.deadline.limit(seconds)
        return None if limit is None else limit * 1000.0

    def _for(self, address: Address) -> "HttpAgent":
        """Return this agent, or one with the same settings for a redirect to the other scheme."""
        if address.scheme == self.scheme or address.scheme not in KINDS:
            return self
        with self._lock:
            if self._other is None:
                self._other = self.clone(KINDS[address.scheme])
            return self._other

    def _make_pool(self, host: str, port: int, tls: Tls, **options: Any) -> ConnectionPool:
        dialer = Dialer(host, tls if self.scheme == "https" else None, self.keep_alive_ms)
        if self._ping is not None:
            path, interval, limit = self._ping
            name = Address(self.scheme, host, None if port == self.port else port, path).host_header
            options |= {"checker": ping_checker(path, limit, name)}
            options |= {"check_timeout": interval, "check_limit": limit}
        return ConnectionPool(constructor=dialer, **options)

    # -- the end -----------------------------------------------------------------------------

    def stop(self, drain: float | None = DRAIN_MS) -> None:
        super().stop(drain)
        if self._other is not None:
            self._other.stop(drain)

    def wait_stopped(self, timeout: float | None = None) -> None:
        """Block until every pool is stopped, each for at most `timeout` milliseconds."""
        for pool in list(self._pools.values()):
            pool.wait_for_state("stopped", timeout=timeout)
        if self._other is not None:
            self._other.wait_stopped(timeout)

    def close(self, timeout: float | None = None) -> None:
        """Stop at once and wait for the end, at most `timeout` seconds; twice is no error."""
        if not self._is_stopped:
            self.stop(drain=0)
        self.wait_stopped(None if timeout is None else timeout * 1000.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class HttpsAgent(HttpAgent):
    """Check the certificate against the host of the URL, whatever backend serves it."""

    scheme = "https"
    port = 443


KINDS = {"http": HttpAgent, "https": HttpsAgent}


class _Call:
    """What holds for all attempts and redirects of one call."""

    __slots__ = ("claim_timeout", "deadline", "decode", "retries", "timeout", "tls")

    def __init__(
        self,
        timeout: Timeout,
        claim_timeout: float | None,
        decode: bool,
        tls: Tls | None,
        retries: int,
    ) -> None:
        if claim_timeout is not None:
            check_wait("claim_timeout", claim_timeout)
        self.timeout = timeout
        self.claim_timeout = claim_timeout
        self.decode = decode
        self.tls = tls
        self.retries = check_count("retries", retries)
        self.deadline = Deadline(timeout.total)


def _emptied(response: Response) -> Response:
    """Read the body of a redirect, which gives its connection back; a long one is given up."""
    if int(response.headers.get("content-length", "0") or 0) > 65536:
        response.close()
    else:
        response.read()
    return response
