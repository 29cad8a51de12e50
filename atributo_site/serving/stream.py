"""Serve GET /events/stream: new events as they happen, to any number of listeners."""

import asyncio
import io
import json
from collections import Counter
from concurrent.futures import Executor, ThreadPoolExecutor

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import Error as DatabaseError
from rest_framework.exceptions import APIException, MethodNotAllowed

from atributo_site.core.errors import AtributoError
from atributo_site.serving import sse, stream_access
from atributo_site.serving.asgi_types import Message, Receive, Send, send_problem
from atributo_site.serving.broadcast import Broadcast
from atributo_site.serving.listener import Hint, Line, Listener, Notice, Round
from atributo_site.serving.stream_access import Missed, Reader

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
RETRY_MS = 2000
HEARTBEAT_SECONDS = 15.0
CHECK_SECONDS = 60.0
SEND_SECONDS = 30.0  # a client that takes nothing for so long is gone


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


class OpenStream:
    """Serve one open event stream, from its first line to its farewell."""

    def __init__(
        self,
        request: ASGIRequest,
        admitted: Reader,
        listener: Listener,
        send: Send,
        threads: Executor,
    ) -> None:
        self._request = request
        self._admitted = admitted
        self._listener = listener
        self._send = send
        self._threads = threads
        self._sent: frozenset[int] = frozenset()  # lines sent while catching up come again
        self._cursor = ""
        self._loop = asyncio.get_running_loop()
        self._check_at = self._loop.time() + CHECK_SECONDS

    async def run(self, headers: list[tuple[bytes, bytes]], opening: Hint | None = None) -> None:
        try:
            missed = await self._missed()
        except DatabaseError as error:
            await send_problem(self._send, error)
            return
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            await self._write(sse.opening(RETRY_MS, str(self._admitted.cursor)))
            await self._catch_up(missed)
            if opening is not None:
                await self._write_hint(opening)
            await self._follow()
        except TimeoutError:
            return  # the answer has no end: the server closes the connection
        await self._send({"type": "http.response.body"})

    async def _missed(self) -> Missed:
        cursor = self._admitted.cursor
        if not self._admitted.resumes:
            return Missed((), str(cursor))
        return await self._loop.run_in_executor(self._threads, stream_access.missed_since, cursor)

    async def _catch_up(self, missed: Missed) -> None:
        if missed.too_much:
            await self._say("overflow", "too many events were missed: reload", missed.cursor)
        self._sent = frozenset(line.pk for line in missed.lines)
        await self._write_lines(missed.lines, missed.cursor)

    async def _follow(self) -> None:
        while True:
            item = await self._listener.next(self._pause())
            if self._listener.closed:
                return await self._farewell(self._listener.closed)
            if isinstance(item, Round):
                await self._pass_on(item)
            elif isinstance(item, Hint):
                await self._write_hint(item)
            elif isinstance(item, Notice):
                await self._say(item.word, f"the database is {item.word}")
            elif not await self._beat():
                return await self._farewell("bye")

    async def _pass_on(self, item: Round) -> None:
        if self._admitted.wants_hints:
            self._cursor = item.cursor
            return
        unsent = [line for line in item.lines if line.pk not in self._sent]
        await self._write_lines(unsent, item.cursor)

    async def _write_hint(self, hint: Hint) -> None:
        if self._admitted.wants_hints:
            await self._write(sse.frame(hint.as_json(), event="hint", cursor=self._cursor))
            self._cursor = ""

    def _pause(self) -> float:
        return min(HEARTBEAT_SECONDS, self._check_at - self._loop.time())

    async def _write_lines(self, lines: list[Line] | tuple[Line, ...], cursor: str) -> None:
        """Put the cursor on the last line: a client that got fewer gets all of them again."""
        wanted = [line.text for line in lines if sse.concerns(self._admitted.topics, line.subject)]
        frames = [sse.frame(text) for text in wanted[:-1]]
        frames += [sse.frame(text, cursor=cursor) for text in wanted[-1:]]
        self._cursor = "" if frames else cursor
        if frames:
            await self._write(b"".join(frames))

    async def _beat(self) -> bool:
        """Show that the connection lives; return False if its user may not listen any more."""
        await self._write(sse.moved(self._cursor) if self._cursor else sse.HEARTBEAT)
        self._cursor = ""
        if self._loop.time() < self._check_at:
            return True
        self._check_at = self._loop.time() + CHECK_SECONDS
        return await self._still_may()

    async def _still_may(self) -> bool:
        try:
            await self._loop.run_in_executor(
                self._threads, stream_access.listening_user, self._request
            )
        except APIException:
            return False
        except DatabaseError:  # asked again in a minute
            return True
        return True

    async def _farewell(self, why: str) -> None:
        if why != "gone":
            await self._say(why, "this stream ends here")

    async def _say(self, event: str, detail: str, cursor: str = "") -> None:
        await self._write(sse.frame(json.dumps({"detail": detail}), event=event, cursor=cursor))

    async def _write(self, text: bytes) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self._send({"type": "http.response.body", "body": text, "more_body": True})
