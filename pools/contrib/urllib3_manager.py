"""Let code that uses urllib3 use agents: put AgentPoolManager() in the place of PoolManager()."""

import ssl
import sys
from collections.abc import Mapping
from typing import Any

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, PoolManager, exceptions
from urllib3.util.request import rewind_body, set_file_position
from urllib3.util.retry import Retry

from pools.contrib.urllib3_response import as_urllib3, is_about_tls, limits_of
from pools.logic.errors import (
    ClaimError,
    ClaimTimeoutError,
    ConnectionTimeoutError,
    InvalidInput,
    PoolsError,
)
from pools.net.http.agent import HttpAgent, HttpsAgent
from pools.net.http.tls import Tls

TLS_OPTIONS = {
    "cert_file": "cert_file",
    "key_file": "key_file",
    "key_password": "key_password",
    "server_hostname": "server_hostname",
    "ssl_context": "context",
}
NO_CHECK = (ssl.CERT_NONE, "CERT_NONE", "NONE")


class AgentPoolManager(PoolManager):
    """Take the agents, or the options of those that it makes and stops itself.

    `headers`, `retries`, `timeout`, `maxsize` with `block`, and those for TLS are as in urllib3;
    redirects and retries are urllib3's own.
    """

    def __init__(
        self,
        num_pools: int = 10,  # as in urllib3; an agent drops the pools that nobody uses
        headers: Mapping[str, str] | None = None,
        *,
        http: HttpAgent | None = None,
        https: HttpsAgent | None = None,
        retries: Any = None,
        timeout: Any = None,
        maxsize: int | None = None,
        block: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(num_pools, headers)
        self._retries = Retry.from_int(retries)
        self._timeout = timeout
        self._tls = _tls(options)
        if block and maxsize is not None:
            options = {"spares": min(4, maxsize), "maximum": maxsize, **options}
        self._agents = {
            "http": http or HttpAgent(**options),
            "https": https or HttpsAgent(**options),
        }
        given = {id(http), id(https)}
        self._own = [agent for agent in self._agents.values() if id(agent) not in given]

    def connection_from_host(
        self,
        host: str | None,
        port: int | None = None,
        scheme: str | None = "http",
        pool_kwargs: Any = None,
    ) -> HTTPConnectionPool:
        agent = self._agents.get(scheme or "http")
        if agent is None or not host:
            raise exceptions.LocationValueError(f"neither http nor https: {scheme}://{host}")
        defaults = self._retries, self._timeout
        return AgentConnectionPool(agent, host, port, defaults, self._tls)

    def clear(self) -> None:
        """Stop the agents that were made here."""
        super().clear()
        for agent in getattr(self, "_own", []):
            agent.close()


class AgentConnectionPool(HTTPConnectionPool):
    """One host of an agent; it has no connections of its own."""

    def __init__(
        self,
        agent: HttpAgent,
        host: str,
        port: int | None,
        defaults: tuple[Retry, Any],
        tls: Tls | None,
    ) -> None:
        self.scheme = agent.scheme
        super().__init__(host, port)
        self._origin = f"{agent.scheme}://{host}" + ("" if port is None else f":{port}")
        self._agent, self._tls = agent, tls
        self._retries, self._limits = defaults

    def urlopen(  # type: ignore[override]
        self,
        method: str,
        url: str,
        body: Any = None,
        headers: Any = None,
        retries: Any = None,
        redirect: bool = True,
        assert_same_host: bool = True,
        timeout: Any = None,
        pool_timeout: float | None = None,
        release_conn: bool | None = None,
        chunked: bool = False,
        body_pos: Any = None,
        preload_content: bool = True,
        decode_content: bool = True,
    ) -> BaseHTTPResponse:
        """Ask the agent, again if `retries` says so."""
        retries = Retry.from_int(retries, redirect=redirect, default=self._retries)
        body_pos = set_file_position(body, body_pos)
        claim_timeout = None if pool_timeout is None else pool_timeout * 1000.0
        while True:
            try:
                response = self._ask(
                    method, url, body, headers, timeout, claim_timeout, preload_content,
                    decode_content,
                )  # fmt: skip
            except exceptions.LocationValueError:
                raise
            except exceptions.HTTPError as error:
                trace = sys.exc_info()[2]
                retries = retries.increment(method, url, error=error, _pool=self, _stacktrace=trace)
                retries.sleep()
            else:
                response.retries = retries
                is_later = "Retry-After" in response.headers
                if not retries.is_retry(method, response.status, is_later):
                    return response
                try:
                    retries = retries.increment(method, url, response=response, _pool=self)
                except exceptions.MaxRetryError:
                    if not retries.raise_on_status:
                        return response
                    response.drain_conn()
                    raise
                response.drain_conn()
                retries.sleep(response)
            if body_pos is not None:
                rewind_body(body, body_pos)

    def _ask(
        self,
        method: str,
        url: str,
        body: Any,
        headers: Any,
        timeout: Any,
        claim_timeout: float | None,
        preload_content: bool,
        decode_content: bool,
    ) -> BaseHTTPResponse:
        try:
            response = self._agent.request(
                method,
                self._origin + url,
                body=body,
                headers=headers,
                timeout=limits_of(self._limits if timeout is None else timeout),
                claim_timeout=claim_timeout,
                stream=True,
                decode_content=False,
                tls=self._tls,
            )
        except PoolsError as error:
            raise self._theirs(error, url) from error
        return as_urllib3(
            response, method, preload_content=preload_content, decode_content=decode_content
        )

    def _theirs(self, error: PoolsError, url: str) -> exceptions.HTTPError:
        """Return the error of urllib3, which tells what may be tried again."""
        if isinstance(error, InvalidInput):
            return exceptions.LocationParseError(str(error))
        if is_about_tls(error):
            return exceptions.SSLError(str(error))
        if isinstance(error, ClaimError):
            is_late = isinstance(error, ClaimTimeoutError) and (
                error.__cause__ is None or isinstance(error.__cause__, ConnectionTimeoutError)
            )
            if is_late:
                return exceptions.ConnectTimeoutError(self, str(error))
            return exceptions.NewConnectionError(self, str(error))  # type: ignore[arg-type]
        if isinstance(error, TimeoutError):
            return exceptions.ReadTimeoutError(self, url, str(error))
        return exceptions.ProtocolError(str(error), error)


def _tls(options: dict[str, Any]) -> Tls | None:
    """Take the options for TLS out of the others."""
    given = {ours: options.pop(theirs) for theirs, ours in TLS_OPTIONS.items() if theirs in options}
    folder, file = options.pop("ca_cert_dir", None), options.pop("ca_certs", None)
    verify = options.pop("cert_reqs", None) not in NO_CHECK
    if not (given or folder or file) and verify:
        return None
    return Tls(verify=verify, ca_certs=file or folder, **given)
