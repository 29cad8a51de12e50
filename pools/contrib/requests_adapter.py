"""Let `requests` use an agent: session.mount("http://", agent_adapter(agent))."""

import os
from collections.abc import Callable
from typing import Any

from requests import adapters, exceptions
from urllib3.util.timeout import Timeout as Urllib3Timeout

from pools.contrib.urllib3_response import as_urllib3, is_about_tls, limits_of
from pools.logic.errors import ClaimTimeoutError, InvalidInput, PoolsError
from pools.net.http.agent import HttpAgent
from pools.net.http.message import Timeout
from pools.net.http.tls import Tls

BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def agent_adapter(agent: HttpAgent) -> Any:
    """Return an adapter for requests.Session.mount().

    Closing the session leaves the agent open, as it may serve others.
    """
    adapter = adapters.HTTPAdapter()
    adapter.send = _sender(agent, adapter.build_response)  # type: ignore[method-assign]
    return adapter


def _sender(agent: HttpAgent, build_response: Callable[..., Any]) -> Callable[..., Any]:
    def send(
        request: Any,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> Any:
        try:
            response = agent.request(
                request.method,
                request.url,
                body=request.body,
                headers=request.headers,
                timeout=_limits(timeout),
                stream=True,
                decode_content=False,
                tls=_tls(verify, cert, agent),
            )
        except (PoolsError, OSError) as error:
            raise _kind(error)(error, request=request) from error
        raw = as_urllib3(response, request.method, preload_content=False, decode_content=False)
        return build_response(request, raw)

    return send


def _kind(error: BaseException) -> Any:
    """Return the error of `requests`, which programs that use it expect."""
    if isinstance(error, InvalidInput):  # a mistake of the caller, not of the network
        return exceptions.InvalidURL
    if isinstance(error, ClaimTimeoutError):
        return exceptions.ConnectTimeout
    if isinstance(error, TimeoutError):
        return exceptions.ReadTimeout
    return exceptions.SSLError if is_about_tls(error) else exceptions.ConnectionError


def _limits(timeout: Any) -> Timeout | None:
    """Return the limits; a pair is those for connecting and for each read."""
    if isinstance(timeout, tuple):
        if len(timeout) != 2:
            raise ValueError(f"a timeout is a number or a pair (connect, read), not {timeout}")
        timeout = Urllib3Timeout(None, *timeout)
    return limits_of(timeout)


def _tls(verify: Any, cert: Any, agent: HttpAgent) -> Tls | None:
    """Return the settings of this request; None when the agent's are to be used.

    A bundle from the environment, which `requests` puts in the place of `verify=True`, does not
    overrule settings that the agent was given.
    """
    if isinstance(verify, str) and agent._has_tls and verify in map(os.environ.get, BUNDLES):
        verify = True
    if verify in (True, None) and cert is None:
        return None
    cert_file, key_file = cert if isinstance(cert, tuple) else (cert, None)
    ca_certs = verify if isinstance(verify, str) else None
    return Tls(bool(verify), ca_certs, cert_file, key_file)
