"""One HTTP connection, which is closed when a request does not arrive whole in time.

Strangers could otherwise hold thousands of connections with one byte now and then. Connections that
wait for their next request, and answers that last, such as the event stream, have other limits.
"""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

ARRIVAL_SECONDS = 10.0  # from the first byte of a request, or of a new connection, to the last
HEAD_BYTES = 64 * 1024
REFUSALS = {
    400: ("malformed", "The request is not HTTP."),
    408: ("too_slow", "The request did not arrive in time."),
    431: ("head_too_large", f"The request has more than {HEAD_BYTES} bytes before its body."),
}
TITLES = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}


class Connection(HttpToolsProtocol):
    _deadline: asyncio.TimerHandle | None = None
    _is_in_head = True
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._has_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and self._is_in_head:
            self._expect_request()  # it arrives after an earlier one was answered
        super().data_received(data)
        if self._is_in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(431)

    def on_headers_complete(self) -> None:
        self._is_in_head, self._head_bytes = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head = True
        self._has_arrived()
        super().on_message_complete()

    def on_message_begin(self) -> None:
        if self._deadline is None:
            self._expect_request()
        super().on_message_begin()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400)

    def _expect_request(self) -> None:
        self._deadline = self.loop.call_later(ARRIVAL_SECONDS, self._came_too_late)

    def _has_arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _came_too_late(self) -> None:
        self._deadline = None
        if self.pipeline:  # we do not read it before the one in front of it is answered
            self._expect_request()
        elif self._is_in_head and self._head_bytes == 0:
            self.transport.close()  # nothing was sent: nobody waits for an answer
        else:
            self._refuse(408)

    def _refuse(self, status: int) -> None:
        """Answer, unless another answer is on its way, and close."""
        if not self.transport.is_closing() and not self._is_answering():
            self.transport.write(refusal(status))
        self.transport.close()

    def _is_answering(self) -> bool:
        """Return whether bytes of ours would come into, or before, the answer to a request."""
        if self._is_in_head:
            return self.cycle is not None and not self.cycle.response_complete
        return self.cycle.response_started


def refusal(status: int) -> bytes:
    code, detail = REFUSALS[status]
    known = {"type": "about:blank", "title": TITLES[status], "status": status}
    body = json.dumps({**known, "code": code, "detail": detail}).encode()
    headers = {
        "content-type": "application/problem+json",
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "connection": "close",
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return STATUS_LINE[status] + head.encode() + b"\r\n" + body


def options() -> dict[str, Any]:
    """Return the options of uvicorn that every web process has."""
    return {
        "http": Connection,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_keep_alive": 30,
    }
