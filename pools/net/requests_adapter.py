"""Let `requests` use an agent: session.mount("http://", agent_adapter(agent))."""

import importlib
from collections.abc import Callable
from typing import Any

from pools.logic.errors import InvalidInput, PoolError
from pools.net.agent import FAULTS, HttpAgent
from pools.net.tls import Tls


def agent_adapter(agent: HttpAgent) -> Any:
    """An adapter for requests.Session.mount(); needs the package `requests`.

    Closing the session leaves the agent alone, which may serve others.
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
        connect, read = timeout if isinstance(timeout, tuple) else (timeout, timeout)
        try:
            response = agent.request(
                request.method,
                request.url,
                body=request.body,
                headers=request.headers,
                timeout=None if read is None else read * 1000.0,
                claim_timeout=None if connect is None else connect * 1000.0,
                preload_content=False,
                decode_content=False,
                tls=_tls(verify, cert),
            )
        except TimeoutError as error:
            raise errors.Timeout(error, request=request) from error
        except InvalidInput:  # a mistake of the caller, not of the network
            raise
        except (*FAULTS, PoolError) as error:
            raise errors.ConnectionError(error, request=request) from error
        return build_response(request, response)

    return send


def _tls(verify: Any, cert: Any) -> Tls | None:
    """The settings of this request; None when they are the usual ones."""
    if verify is True and cert is None:
        return None
    cert_file, key_file = cert if isinstance(cert, tuple) else (cert, None)
    ca_certs = verify if isinstance(verify, str) else None
    return Tls(bool(verify), ca_certs, cert_file, key_file)
