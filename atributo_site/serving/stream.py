"""Serve GET /events/stream: new events as they happen, to any number of listeners."""

import asyncio
import io
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import Error as DatabaseError
from rest_framework.exceptions import APIException, MethodNotAllowed

from atributo_site.core.errors import AtributoError
from atributo_site.serving import stream_access
from atributo_site.serving.asgi_types import Message, Receive, Send, send_problem
from atributo_site.serving.broadcast import Broadcast
from atributo_site.serving.listener import Listener
from atributo_site.serving.open_stream import OpenStream
from atributo_site.serving.stream_access import Reader

PATH = "events/stream"  # below the prefix of the site
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


class TooManyStreams(AtributoError):
    """One user has too many streams open."""

    status_code = 429
    code = "too_many_streams"
    retry_after_seconds = 10


class NoStreamLeft(AtributoError):
    """This process has as many streams as it may."""

    status_code = 503
    code = "no_stream_left"
    retry_after_seconds = 10


class EventStream:
    """The ASGI application of the stream; one per process."""

    def __init__(self) -> None:
        self.broadcast = Broadcast()
        self._open: Counter[int] = Counter()
        self._threads = ThreadPoolExecutor(2, "stream")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        request = ASGIRequest(scope, io.BytesIO())
        try:
            admitted = await self._admit(request)
        except (APIException, AtributoError, DatabaseError) as error:
            await send_problem(send, error)
            return
        try:
            await self._answer(request, admitted, receive, send)
        finally:
            self._open[admitted.user_id] -= 1

    async def _admit(self, request: ASGIRequest) -> Reader:
        if request.method not in {"GET", "HEAD"}:
            raise MethodNotAllowed(str(request.method))
        loop = asyncio.get_running_loop()
        admitted = await loop.run_in_executor(self._threads, stream_access.admitted, request)
        self._count(admitted.user_id)
        return admitted

    def _count(self, user_id: int) -> None:
        if self._open[user_id] >= settings.ATRIBUTO.streams_per_user:
            raise TooManyStreams("this user has too many streams open; close one first")
        if self._open.total() >= settings.ATRIBUTO.streams:
            raise NoStreamLeft("this server has no stream left; try again later")
        self._open[user_id] += 1

    async def _answer(
        self, request: ASGIRequest, admitted: Reader, receive: Receive, send: Send
    ) -> None:
        if request.method == "HEAD":
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            await send({"type": "http.response.body"})
            return
        try:
            listener = await self.broadcast.join(wants_hints=admitted.wants_hints)
        except TimeoutError:
            await send_problem(send, DatabaseError("no answer"))
            return
        leaving = asyncio.create_task(_close_when_gone(listener, receive))
        stream = OpenStream(request, admitted, listener, send, self._threads)
        try:
            await stream.run(HEADERS, self.broadcast.opening_hint if admitted.wants_hints else None)
        finally:
            leaving.cancel()
            self.broadcast.leave(listener)


async def _close_when_gone(listener: Listener, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    listener.close("gone")
