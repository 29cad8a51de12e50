"""Call Django's WSGI application in threads, with one hop to a thread and one back per request.

As few threads as keep up answer: the one that was busy last takes the next request. Python computes
in one thread at a time. Sixteen that take turns would each warm up a database connection and caches
of their own and wait for each other: a write cost twice the processor time. A thread that takes
long does not count, since it may wait for the database or for a slow client.
"""

import asyncio
import atexit
import contextvars
import io
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

from django.db import connection

from atributo_site.serving.asgi_types import Message, Send

LONG_SECONDS = 0.02
Call = tuple["Future[Any]", Callable[[], Any]]
OWN_NAMES = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}


@dataclass
class Answer:
    """Hold an answer that is whole; one that streams is sent by its thread, piece by piece."""

    start: Message
    body: bytes | None


class InThreads:
    def __init__(self, wsgi: Any, workers: int) -> None:
        self._wsgi = wsgi
        self.executor = FewThreads(workers, _quick_threads())

    async def __call__(self, scope: Message, body: bytes, send: Send) -> None:
        loop = asyncio.get_running_loop()
        answer_it = partial(self._answer, environ_of(scope, body), partial(_wait_for, loop, send))
        call = partial(contextvars.copy_context().run, answer_it)
        answer = await loop.run_in_executor(self.executor, call)
        if answer.body is not None:
            await send(answer.start)
            await send({"type": "http.response.body", "body": answer.body})

    def _answer(self, environ: dict[str, Any], send: Any) -> Answer:
        start: Message = {}

        def start_response(status: str, headers: list[tuple[str, str]], exc: Any = None) -> None:
            start.update(_started(status, headers))

        parts = self._wsgi(environ, start_response)
        try:
            if not getattr(parts, "streaming", False):
                return Answer(start, b"".join(parts))
            send(start)
            for part in parts:
                send({"type": "http.response.body", "body": part, "more_body": True})
            send({"type": "http.response.body", "body": b""})
            return Answer(start, None)
        finally:
            parts.close()


def _quick_threads() -> int:
    """Return how many may compute: one, and others while they wait for a database server."""
    return 1 if connection.vendor == "sqlite" else 2


def _wait_for(loop: asyncio.AbstractEventLoop, send: Send, message: Message) -> None:
    """Send from a thread, no faster than the client reads."""
    asyncio.run_coroutine_threadsafe(send(message), loop).result()  # type: ignore[arg-type]


def _started(status: str, headers: list[tuple[str, str]]) -> Message:
    named = [(name.lower().encode("latin-1"), text.encode("latin-1")) for name, text in headers]
    return {"type": "http.response.start", "status": int(status[:3]), "headers": named}


def environ_of(scope: Message, body: bytes) -> dict[str, Any]:
    """Return what PEP 3333 asks for."""
    host, port = scope.get("server") or ("localhost", 80)
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": host,
        "SERVER_PORT": str(port or 0),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    if client := scope.get("client"):
        environ["REMOTE_ADDR"], environ["REMOTE_PORT"] = client[0], str(client[1])
    for name, value in scope["headers"]:
        key = OWN_NAMES.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
        text = value.decode("latin-1")
        environ[key] = f"{environ[key]},{text}" if key in environ else text
    return environ


class FewThreads(Executor):
    def __init__(self, most: int, quick: int, long_seconds: float = LONG_SECONDS) -> None:
        self._most = most
        self._quick = quick
        self._long_seconds = long_seconds
        self._waiting: deque[Call] = deque()
        self._threads: list[_Thread] = []
        self._idle: list[_Thread] = []  # the last one is still warm
        self._busy: dict[_Thread, float] = {}  # thread -> since when
        self._lock = threading.Lock()
        self._is_over = False
        self._backlog = threading.Event()
        threading.Thread(target=self._look_after_backlog, daemon=True).start()
        atexit.register(self.shutdown)  # requests that run are answered before the process ends

    def submit(self, call: Callable[..., Any], /, *args: Any, **options: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        with self._lock:
            if self._is_over:
                raise RuntimeError("the web server is stopping")
            self._waiting.append((future, partial(call, *args, **options)))
            self._hand_out()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Answer what is waiting, and end the threads."""
        with self._lock:
            self._is_over = True
            self._end_if_all_is_done()
        for thread in self._threads if wait else []:
            thread.join()
        atexit.unregister(self.shutdown)

    def next_for(self, thread: "_Thread") -> Call | None:
        """Return what the thread does next; None if it is to wait at its inbox."""
        with self._lock:
            del self._busy[thread]
            if self._waiting and self._is_one_more_welcome():
                self._busy[thread] = time.monotonic()
                return self._waiting.popleft()
            self._idle.append(thread)
            self._end_if_all_is_done()
            return None

    def _end_if_all_is_done(self) -> None:
        if not self._is_over or self._waiting:
            return
        self._backlog.set()
        for thread in self._idle:
            thread.inbox.put(None)
        self._idle.clear()

    def _hand_out(self) -> None:
        while self._waiting and self._is_one_more_welcome():
            if not self._idle and len(self._threads) >= self._most:
                break
            thread = self._idle.pop() if self._idle else self._started()
            self._busy[thread] = time.monotonic()
            thread.inbox.put(self._waiting.popleft())
        if self._waiting:
            self._backlog.set()

    def _is_one_more_welcome(self) -> bool:
        long_ago = time.monotonic() - self._long_seconds
        return sum(since > long_ago for since in self._busy.values()) < self._quick

    def _started(self) -> "_Thread":
        thread = _Thread(self, len(self._threads))
        self._threads.append(thread)
        thread.start()
        return thread

    def _look_after_backlog(self) -> None:
        """Let another thread help when those that are busy take long."""
        while not (self._is_over and not self._waiting):
            self._backlog.wait()
            time.sleep(self._long_seconds)
            with self._lock:
                self._backlog.clear()
                self._hand_out()


class _Thread(threading.Thread):
    def __init__(self, pool: FewThreads, number: int) -> None:
        super().__init__(name=f"web_{number}", daemon=True)
        self._pool = pool
        self.inbox: SimpleQueue[Call | None] = SimpleQueue()

    def run(self) -> None:
        while (call := self.inbox.get()) is not None:
            while call is not None:
                _run(*call)
                call = self._pool.next_for(self)


def _run(future: "Future[Any]", call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:  # whoever waits for it gets it
        future.set_exception(error)
    else:
        future.set_result(result)
