"""Serve one port: the event stream async, everything else by Django's WSGI app in threads.

Django's own ASGI handler would open a database connection per request and is five times slower; a
WSGI server would starve under open streams. Request bodies are read before a thread is taken,
within a size and a time limit.
"""

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any
from urllib.parse import unquote_to_bytes

from django.conf import settings

from atributo_site.pages.mount import REST, path_prefix
from atributo_site.rest.ids import ENCODED_SLASH
from atributo_site.serving.asgi_types import (
    Message,
    Receive,
    Send,
    numbered,
    refuse,
    send_response,
)
from atributo_site.serving.in_threads import InThreads
from atributo_site.serving.live_answers import LiveAnswers
from atributo_site.serving.stream import PATH, EventStream
from atributo_site.serving.systemd import Notify
from atributo_site.status.probes import alive

ALIVE = "healthz"  # answered by the event loop, so that busy threads do not look like a freeze
READ_SECONDS = 10.0  # where the server itself does not close what is half sent
ANNOUNCING = {b"content-length", b"transfer-encoding"}  # HTTP/1.1 has no body without them


def when_stopping(act: Callable[[], None]) -> None:
    """Call `act` in the event loop on SIGTERM and SIGINT, before their present handler."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may handle signals
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        _chain(number, lambda: loop.call_soon_threadsafe(act))


def _chain(number: signal.Signals, first: Callable[[], object]) -> None:
    then = signal.getsignal(number)

    def handle(received: int, frame: FrameType | None) -> None:
        first()
        if callable(then):
            then(received, frame)

    if callable(then):
        signal.signal(number, handle)


class OnePort:
    """The ASGI application of a web process."""

    def __init__(self, wsgi: Any) -> None:
        self._stream = EventStream()
        top = path_prefix()
        self._stream_path, self._alive_path, self._rest = top + PATH, top + ALIVE, top + REST
        self._in_threads = InThreads(wsgi, settings.ATRIBUTO.web_threads)
        self._live_answers = LiveAnswers(self._ask_without_a_body)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        when_stopping(self._stream.broadcast.end)
        await send({"type": "lifespan.startup.complete"})
        notify = Notify.of_this_process()
        notify.say("READY=1")
        beating = asyncio.create_task(notify.beat())
        await receive()
        beating.cancel()
        notify.say("STOPPING=1")
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        path = decoded_path(scope["raw_path"], self._rest)
        if path is None:
            detail = "The address is not percent-encoded UTF-8."
            await refuse(numbered(scope, send), 400, "malformed", detail)
        elif path == self._alive_path and scope["method"] in {"GET", "HEAD"}:
            await send_response(numbered(scope, send), alive())
        elif path == self._stream_path:
            await self._stream(scope, receive, numbered(scope, send))
        elif self._live_answers.concerns(scope):
            await self._live_answers({**scope, "path": path}, send)
        else:
            await self._hand_on({**scope, "path": path}, receive, send)

    async def _hand_on(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            body = await body_of(scope, receive, settings.ATRIBUTO.body_bytes)
        except BodyTooLarge:
            detail = "The request body is larger than this site accepts."
            return await refuse(numbered(scope, send), 413, "too_large", detail)
        except BodyTooSlow:
            detail = "The request body did not arrive in time."
            return await refuse(numbered(scope, send), 408, "too_slow", detail)
        except BodyCut:
            return None
        scope["headers"] = trusted_headers(scope["headers"], len(body))
        return await self._in_threads(scope, body, send)

    async def _ask_without_a_body(self, scope: Message, send: Send) -> None:
        scope = {**scope, "headers": trusted_headers(scope["headers"], 0)}
        await self._in_threads(scope, b"", send)


def decoded_path(raw: bytes, rest: str = f"/{REST}") -> str | None:
    """Pass an encoded slash on as a character that no id has; see rest/ids.py.

    Django writes that character into the links of pages, so browsers send it; programs must not.
    """
    if raw.startswith(rest.encode()) and b"%1f" in raw.lower():
        return None
    marked = raw.replace(b"%2F", ENCODED_SLASH.encode()).replace(b"%2f", ENCODED_SLASH.encode())
    try:
        return unquote_to_bytes(marked).decode("utf-8")
    except UnicodeDecodeError:
        return None


def trusted_headers(headers: list[tuple[bytes, bytes]], length: int) -> list[tuple[bytes, bytes]]:
    """Set the real length of the body, and drop names that WSGI would confuse.

    WSGI turns both X-Forwarded-Proto and X_Forwarded_Proto into one variable.
    """
    ours = {b"content-length", b"transfer-encoding"}
    kept = [(name, value) for name, value in headers if name not in ours and b"_" not in name]
    return [*kept, (b"content-length", str(length).encode())] if length else kept


class BodyTooLarge(Exception):
    """More bytes came than the site accepts, whatever was announced."""


class BodyTooSlow(Exception):
    """The body did not arrive in time."""


class BodyCut(Exception):
    """The client went away in the middle."""


async def body_of(scope: Message, receive: Receive, limit: int) -> bytes:
    if not any(name in ANNOUNCING for name, _ in scope["headers"]):
        return b""
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await _collected(receive, limit)
    except TimeoutError as error:
        raise BodyTooSlow from error


async def _collected(receive: Receive, limit: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BodyCut
        body += message.get("body", b"")
        if len(body) > limit:
            raise BodyTooLarge
        if not message.get("more_body", False):
            return bytes(body)
