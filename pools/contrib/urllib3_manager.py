"""Let code that uses urllib3 use agents: put AgentPoolManager() in the place of PoolManager()."""

from typing import Any

from urllib3 import BaseHTTPResponse, PoolManager, exceptions
from urllib3.util.retry import Retry
from urllib3.util.timeout import Timeout as Urllib3Timeout

from pools.contrib.urllib3_response import as_urllib3
from pools.logic.errors import ClaimTimeoutError, InvalidInput, PoolsError
from pools.net.http.agent import HttpAgent, HttpsAgent
from pools.net.http.message import Timeout

REDIRECTS = 10


class AgentPoolManager(PoolManager):
    """Take the agents, or the options of those that it makes and stops itself."""

    def __init__(
        self, http: HttpAgent | None = None, https: HttpsAgent | None = None, **options: Any
    ) -> None:
        super().__init__()
        self._made = [agent for agent in (http, https) if agent is None]
        self._agents = {
            "http": http or HttpAgent(**options),
            "https": https or HttpsAgent(**options),
        }
        given = {id(http), id(https)}
        self._own = [agent for agent in self._agents.values() if id(agent) not in given]

    def urlopen(  # type: ignore[override]
        self, method: str, url: str, redirect: bool = True, **kw: Any
    ) -> BaseHTTPResponse:
        agent = self._agents.get(url.partition(":")[0].lower())
        if agent is None:
            raise exceptions.LocationValueError(f"neither http nor https: {url}")
        retries = kw.get("retries")
        most = REDIRECTS if retries is None else Retry.from_int(retries).total
        try:
            response = agent.request(
                method,
                url,
                body=kw.get("body"),
                headers=kw.get("headers") or self.headers,
                timeout=_limits(kw.get("timeout")),
                stream=True,
                decode_content=False,
                redirects=int(most or 0) if redirect else 0,
            )
        except InvalidInput as error:
            raise exceptions.LocationParseError(str(error)) from error
        except ClaimTimeoutError as error:
            raise exceptions.ConnectTimeoutError(str(error)) from error
        except TimeoutError as error:
            raise exceptions.TimeoutError(str(error)) from error
        except PoolsError as error:
            raise exceptions.ProtocolError(str(error), error) from error
        return as_urllib3(
            response,
            method,
            preload_content=kw.get("preload_content", True),
            decode_content=kw.get("decode_content", True),
        )

    def clear(self) -> None:
        """Stop the agents that were made here."""
        super().clear()
        for agent in getattr(self, "_own", []):
            agent.close()


def _limits(timeout: Any) -> Timeout | None:
    if timeout is None:
        return None
    given = timeout if isinstance(timeout, Urllib3Timeout) else Urllib3Timeout(timeout)
    connect = Urllib3Timeout.resolve_default_timeout(given._connect)
    read = Urllib3Timeout.resolve_default_timeout(given._read)
    return Timeout(connect=connect, read=read, write=read, total=given.total)  # type: ignore[arg-type]
