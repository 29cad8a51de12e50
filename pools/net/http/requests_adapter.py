"""Let `requests` use an agent: session.mount("http://", agent_adapter(agent))."""

import importlib
import ssl
from collections.abc import Callable
from typing import Any

from urllib3.util.timeout import Timeout

from pools.logic.errors import ClaimTimeoutError, InvalidInput, PoolError
from pools.net.http.agent import FAULTS, HttpAgent
from pools.net.http.tls import Tls


def agent_adapter(agent: HttpAgent) -> Any:
    """Return an adapter for requests.Session.mount(); it needs the package `requests`.

    Closing the session leaves the agent open, as it may serve others.
    """
    adapters = importlib.import_module("requests.adapters")
    adapter = adapters.HTTPAdapter()
    adapter.send = _sender(agent, adapter.build_response)
    return adapter


def _sender(agent: HttpAgent, build_response: Callable[..., Any]) -> Callable[..., Any]:
    errors = importlib.import_module("requests.exceptions")

    def send(
        request: Any,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> Any:
        connect_ms, read_ms = _limits_ms(timeout)
        try:
            response = agent.request(
                request.method,
                request.url,
                body=request.body,
                headers=request.headers,
                timeout=read_ms,
                claim_timeout=connect_ms,
                preload_content=False,
                decode_content=False,
                tls=_tls(verify, cert),
            )
        except (*FAULTS, PoolError) as error:
            raise _kind(errors, error)(error, request=request) from error
        return build_response(request, response)

    return send


def _kind(errors: Any, error: BaseException) -> Any:
    """Return the exception that programs expect which use `requests` alone."""
    if isinstance(error, InvalidInput):  # a mistake of the caller, not of the network
        return errors.InvalidURL
    if isinstance(error, ClaimTimeoutError):
        return errors.ConnectTimeout
    if isinstance(error, TimeoutError):
        return errors.ReadTimeout
    return errors.SSLError if _is_about_tls(error) else errors.ConnectionError


def _is_about_tls(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__
    return error is not None


def _limits_ms(timeout: Any) -> tuple[float | None, float | None]:
    """Return the limits for connecting and for each read; a number sets both, as in urllib3."""
    if isinstance(timeout, tuple) and len(timeout) != 2:
        raise ValueError(f"a timeout is a number or a pair (connect, read), not {timeout}")
    pair = timeout if isinstance(timeout, tuple) else (timeout, timeout)
    limits = timeout.clone() if isinstance(timeout, Timeout) else Timeout(None, *pair)
    limits.start_connect()
    seconds = limits.connect_timeout, limits.read_timeout
    connect, read = (Timeout.resolve_default_timeout(each) for each in seconds)
    return connect and connect * 1000.0, read and read * 1000.0


def _tls(verify: Any, cert: Any) -> Tls | None:
    """Return the settings of this request; None when they are the usual ones."""
    if verify is True and cert is None:
        return None
    cert_file, key_file = cert if isinstance(cert, tuple) else (cert, None)
    ca_certs = verify if isinstance(verify, str) else None
    return Tls(bool(verify), ca_certs, cert_file, key_file)
