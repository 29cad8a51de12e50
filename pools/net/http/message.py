"""A request before it is sent: its address, its headers, its body."""

import re
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict
from urllib.parse import quote, urlencode, urljoin, urlsplit

from pools.logic.dns.names import dns_name, parse_host_port
from pools.logic.errors import InvalidInput
from pools.logic.numbers import check_positive
from pools.net.http.headers import TOKEN, Pairs, pairs_of
from pools.net.http.tls import Tls

SAFE = "/%:=&?~+!$,;'@()*[]-._"
PIECE = 64 * 1024
WITHOUT_BODY = {"GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "CONNECT"}


@dataclass(frozen=True, slots=True)
class Timeout:
    """Seconds; None means for ever.

    `connect` is the wait for a connection, `read` and `write` the silence of the server, `total`
    the whole request with its retries and redirects, and with its body unless that is streamed.
    """

    connect: float | None = 10.0
    read: float | None = 60.0
    write: float | None = 60.0
    total: float | None = 300.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None:
                check_positive(f"timeout: {name}", value)


def timeout_of(value: Any, default: Timeout) -> Timeout:
    """Read what a caller gave: a number of seconds for connect, read and write, or a Timeout."""
    if value is None or isinstance(value, Timeout):
        return value or default
    return Timeout(value, value, value, default.total)


class AsyncRequestOptions(TypedDict, total=False):
    """What the verbs of agents take, for editors and type checkers."""

    body: Any
    headers: Pairs
    params: Any
    data: Any
    json: Any
    timeout: float | Timeout | None
    claim_timeout: float | None
    stream: bool
    decode_content: bool
    redirects: int
    retries: int
    tls: Tls | None


class RequestOptions(AsyncRequestOptions, total=False):
    preload_content: bool


class Address(NamedTuple):
    scheme: str
    host: str
    port: int | None
    target: str

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int | None]:
        return self.scheme, self.host, self.port or {"http": 80, "https": 443}.get(self.scheme)


def parse_url(url: str, params: Any = None) -> Address:
    """Return the parts; spaces and other signs that no URL has are encoded."""
    if not isinstance(url, str):
        raise TypeError(f"url must be a string, not {type(url).__name__}")
    try:
        parts = urlsplit(url.strip())
        port, host = parts.port, parts.hostname
    except ValueError as error:
        raise InvalidInput(f"not a URL: {url!r}: {error}") from error
    if not parts.scheme or not host:
        raise InvalidInput(f"the URL names no host: {url!r}")
    if port == 0:
        raise InvalidInput(f"the URL names the port 0: {url!r}")
    query = "&".join(part for part in (parts.query, query_of(params)) if part)
    target = quote(parts.path or "/", safe=SAFE) + (f"?{quote(query, safe=SAFE)}" if query else "")
    return Address(parts.scheme.lower(), _host(host), port, target)


def _host(text: str) -> str:
    """Return a name as DNS knows it, or an address without brackets."""
    if ":" in text:
        return parse_host_port(f"[{text}]").host
    host = parse_host_port(text)
    return host.host if host.is_ip else dns_name(host.host).lower()


def query_of(params: Any) -> str:
    if params is None:
        return ""
    if isinstance(params, str | bytes):
        return params if isinstance(params, str) else params.decode("ascii")
    items = params.items() if isinstance(params, Mapping) else params
    return urlencode([(k, v) for k, v in items if v is not None], doseq=True)


class Prepared(NamedTuple):
    method: str
    address: Address
    headers: list[tuple[str, str]]
    body: Any  # bytes, or something to iterate over, or None
    start: int | None  # where a file begins that is read for the body


def prepare(
    method: str,
    url: str,
    *,
    headers: Pairs = None,
    params: Any = None,
    body: Any = None,
    data: Any = None,
    json_value: Any = None,
) -> Prepared:
    if not isinstance(method, str) or not TOKEN.match(method):
        raise InvalidInput(f"not a method of HTTP: {method!r}")
    if sum(each is not None for each in (body, data, json_value)) > 1:
        raise InvalidInput("a request has one body: give body, data or json")
    address = parse_url(url, params)
    pairs = pairs_of(headers)
    names = {name.lower() for name, _ in pairs}
    content, kind = _content(body, data, json_value)
    usual = [("Host", address.host_header), ("Accept-Encoding", "gzip, deflate")]
    usual += [("User-Agent", "pools"), *([("Content-Type", kind)] if kind else [])]
    usual += _length(method.upper(), content, names)
    sent = [pair for pair in usual if pair[0].lower() not in names] + pairs
    return Prepared(method.upper(), address, sent, content, _position(content))


def _content(body: Any, data: Any, json_value: Any) -> tuple[Any, str | None]:
    if json_value is not None:
        import json  # it takes long to import, and many programs never send any

        return json.dumps(json_value, separators=(",", ":")).encode(), "application/json"
    if isinstance(data, Mapping) or (
        isinstance(data, list) and data and isinstance(data[0], tuple)
    ):
        return query_of(data).encode(), "application/x-www-form-urlencoded"
    content = body if data is None else data
    if isinstance(content, str):
        return content.encode(), "text/plain; charset=utf-8"
    if content is None or isinstance(content, bytes):
        return content, None
    if isinstance(content, bytearray | memoryview):
        return bytes(content), None
    if hasattr(content, "read") or isinstance(content, Iterable | AsyncIterable):
        return content, None
    raise TypeError(f"a body is bytes, text, a file or something to iterate over: {content!r}")


def _length(method: str, content: Any, names: set[str]) -> list[tuple[str, str]]:
    if names & {"content-length", "transfer-encoding"}:
        return []
    if content is None:
        return [] if method in WITHOUT_BODY else [("Content-Length", "0")]
    if isinstance(content, bytes):
        return [("Content-Length", str(len(content)))]
    return [("Transfer-Encoding", "chunked")]


def _position(content: Any) -> int | None:
    tell = getattr(content, "tell", None)
    try:
        return None if tell is None else int(tell())
    except (OSError, ValueError):
        return None


def is_chunked(request: Prepared) -> bool:
    return any(n.lower() == "transfer-encoding" for n, _ in request.headers)


def may_repeat(request: Prepared) -> bool:
    """Return whether the body can be sent again, and rewind a file to its beginning."""
    body = request.body
    if body is None or isinstance(body, bytes):
        return True
    if request.start is not None:
        try:
            body.seek(request.start)
        except (OSError, ValueError):
            return False
        return True
    return not hasattr(body, "__next__") and not hasattr(body, "__anext__")


def pieces(request: Prepared) -> Iterator[bytes]:
    """Yield a body that is no bytes, as it goes over the wire."""
    chunked = is_chunked(request)
    for piece in _raw_pieces(request.body):
        data = piece.encode() if isinstance(piece, str) else bytes(piece)
        if data:
            yield frame(data) if chunked else data
    if chunked:
        yield b"0\r\n\r\n"


def frame(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _raw_pieces(body: Any) -> Iterator[Any]:
    read = getattr(body, "read", None)
    if read is None:
        yield from body
        return
    while piece := read(PIECE):
        yield piece


CROSS_ORIGIN = {"authorization", "cookie", "proxy-authorization"}
BODY_HEADERS = {"content-length", "content-type", "transfer-encoding"}
REDIRECTS = {301, 302, 303, 307, 308}
ABSOLUTE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


def redirected(request: Prepared, status: int, location: str) -> tuple[Prepared, str]:
    """Return the request that follows, and its URL; another origin gets no credentials."""
    old = request.address
    base = f"{old.scheme}://{old.host_header}{old.target}"
    url = urljoin(base, location)
    address = parse_url(url)
    method, body, dropped = request.method, request.body, {"host"}
    if status == 303 and method != "HEAD" or status in (301, 302) and method == "POST":
        method, body, dropped = "GET", None, dropped | BODY_HEADERS
    if address.origin != old.origin:
        dropped |= CROSS_ORIGIN
    kept = [pair for pair in request.headers if pair[0].lower() not in dropped]
    headers = [("Host", address.host_header), *kept]
    return Prepared(method, address, headers, body, request.start), url
