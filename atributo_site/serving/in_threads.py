"""Call Django's WSGI application in threads, with one hop to a thread and one back per request."""

import asyncio
import contextvars
import io
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from atributo_site.serving.asgi_types import Message, Send

OWN_NAMES = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}


@dataclass
class Answer:
    """Hold an answer that is whole; one that streams is sent by its thread, piece by piece."""

    start: Message
    body: bytes | None


class InThreads:
    def __init__(self, wsgi: Any, workers: int) -> None:
        self._wsgi = wsgi
        self.executor = ThreadPoolExecutor(workers, "web")

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
