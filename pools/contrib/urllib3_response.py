"""Show an answer of an agent as urllib3 shows it, for libraries that build on urllib3."""

import io
import ssl
from typing import Any

from urllib3 import HTTPHeaderDict, HTTPResponse
from urllib3.util.timeout import Timeout as Urllib3Timeout

from pools.net.http.message import Timeout
from pools.net.http.response import Response


class RawBody(io.RawIOBase):
    """The body as a file; urllib3 turns the errors of reading into its own."""

    def __init__(self, response: Response) -> None:
        self._response = response

    def readable(self) -> bool:
        return True

    def read(self, amount: int | None = -1) -> bytes:
        return self._response.read(None if amount is None or amount < 0 else amount)

    def close(self) -> None:
        if not self.closed:
            self._response.close()
        super().close()


class Original:
    """The place in which `requests` looks for cookies."""

    def __init__(self, headers: HTTPHeaderDict) -> None:
        self.msg = self
        self._headers = headers

    def get_all(self, name: str, default: Any = None) -> Any:
        return self._headers.getlist(name) or default

    def isclosed(self) -> bool:
        return False

    def close(self) -> None:
        """Do nothing: the body has its own end."""


def limits_of(timeout: Any) -> Timeout | None:
    """Return the limits for connecting and for each read; a number sets both, as in urllib3."""
    if timeout is None:
        return None
    is_theirs = isinstance(timeout, Urllib3Timeout)
    given = timeout.clone() if is_theirs else Urllib3Timeout.from_float(timeout)
    given.start_connect()
    seconds = given.connect_timeout, given.read_timeout
    connect, read = (Urllib3Timeout.resolve_default_timeout(each) for each in seconds)
    total = Urllib3Timeout.resolve_default_timeout(given.total)
    return Timeout(connect=connect, read=read, write=read, total=total)


def is_about_tls(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__
    return error is not None


def as_urllib3(response: Response, method: str, **options: Any) -> HTTPResponse:
    headers = HTTPHeaderDict()
    for name, value in response.headers.multi_items():
        headers.add(name, value)
    return HTTPResponse(
        body=RawBody(response),
        headers=headers,
        status=response.status,
        version=11,
        reason=response.reason,
        original_response=Original(headers),  # type: ignore[arg-type]
        request_method=method,
        request_url=response.url,
        **options,
    )
