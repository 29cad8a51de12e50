"""One exchange over a connection that is lent for it."""

import time
from typing import Any

from pools.logic.errors import (
    ReadTimeoutError,
    RequestError,
    TotalTimeoutError,
    WriteTimeoutError,
)
from pools.net.http.connection import RECEIVE, Connection
from pools.net.http.message import Prepared, Timeout, pieces
from pools.net.http.response import Response, Source
from pools.net.http.wire import ResponseParser, request_head
from pools.net.pool.claim import Claim
from pools.net.pool.pool import ConnectionPool

FAILING = 500


class Disconnected(RequestError):
    """The server closed a kept connection instead of answering: the request may be repeated."""


def verdict_of(error: BaseException | None) -> bool | None:
    """Blame the backend for a broken exchange, but not for closing what it had kept for long."""
    return False if isinstance(error, OSError) and not isinstance(error, Disconnected) else None


class Deadline:
    """The end of the whole request, by the monotonic clock."""

    __slots__ = ("at",)

    def __init__(self, total: float | None) -> None:
        self.at = None if total is None else time.monotonic() + total

    def limit(self, seconds: float | None) -> float | None:
        """Return how long the next wait may be; raise TotalTimeoutError if it is too late."""
        if self.at is None:
            return seconds
        left = self.at - time.monotonic()
        if left <= 0:
            raise TotalTimeoutError("the request took longer than its total limit")
        return left if seconds is None or left < seconds else seconds


class Lease(Source):
    """End exactly once: give the connection back, or close it when it cannot be used again."""

    __slots__ = ("_claim", "_deadline", "_parser", "_timeout", "connection", "is_used")

    def __init__(self, claim: Claim, connection: Connection) -> None:
        self._claim: Claim | None = claim
        self.connection = connection
        self.is_used = connection.served > 0
        connection.served += 1

    # -- one exchange ------------------------------------------------------------------------

    def exchange(
        self, request: Prepared, timeout: Timeout, deadline: Deadline, decode: bool, url: str
    ) -> Response:
        """Send the request and read the head of the answer."""
        self._parser = parser = ResponseParser(request.method)
        self._timeout, self._deadline = timeout, deadline
        try:
            broken = self._send(request)
            while parser.head is None:
                self._receive(broken)
        except BaseException as error:  # an interrupt leaves it half read, too
            self.break_off(error)
            raise
        return Response(parser.head, url, decode, self)

    def _send(self, request: Prepared) -> OSError | None:
        """Return the error of a server that closed early: it may have answered all the same."""
        head = request_head(request.method, request.address.target, request.headers)
        whole = isinstance(request.body, bytes) or request.body is None
        try:
            sock = self.connection.limit(self._deadline.limit(self._timeout.write))
            sock.sendall(head + (request.body or b"") if whole else head)
            if not whole:
                for piece in pieces(request):
                    self.connection.limit(self._deadline.limit(self._timeout.write)).sendall(piece)
        except RequestError:
            raise
        except TimeoutError as error:
            raise WriteTimeoutError(f"{self} did not take the request in time") from error
        except (BrokenPipeError, ConnectionResetError) as error:
            return error
        except OSError as error:
            raise self._broken(error) from error
        return None

    def _receive(self, cause: BaseException | None = None) -> None:
        parser = self._parser
        try:
            sock = self.connection.limit(self._deadline.limit(self._timeout.read))
            data = sock.recv(RECEIVE)
        except RequestError:
            raise
        except TimeoutError as error:
            self._deadline.limit(None)  # perhaps the whole time is over
            raise ReadTimeoutError(f"{self} was silent for too long") from error
        except OSError as error:
            raise self._broken(error) from (cause or error)
        if data:
            parser.feed(data)
        elif parser.has_begun:
            parser.end()
        else:
            raise self._broken("it closed the connection without an answer") from cause

    def _broken(self, reason: object) -> RequestError:
        text = f"the exchange with {self} broke off: {reason}"
        backend = self.connection.backend
        if self.is_used and not self._parser.has_begun:
            return Disconnected(text, backend=backend)
        return RequestError(text, backend=backend)

    # -- the body ----------------------------------------------------------------------------

    def next(self) -> bytes:
        parser = self._parser
        try:
            while not parser.body and not parser.is_over:
                self._receive()
        except BaseException as error:
            self.break_off(error)
            raise
        if parser.body:
            data, parser.body = b"".join(parser.body), []
            if parser.is_over:
                self.end()
            return data
        self.end()
        return b""

    def close(self) -> None:
        if self._parser.is_over:
            self.end()
        else:  # the unread rest would be taken for the next answer
            self.break_off()

    # -- the end -----------------------------------------------------------------------------

    def end(self) -> None:
        claim, self._claim = self._claim, None
        if claim is None:
            return
        head = self._parser.head
        ok = head is not None and head.status < FAILING
        if head is not None and head.keeps and not self._parser.rest:
            claim.release(ok)
        else:
            claim.close(ok, is_open=True)

    def break_off(self, error: BaseException | None = None) -> None:
        """Give the connection up; after a time-out it was not the server that closed it."""
        claim, self._claim = self._claim, None
        if claim is not None:
            claim.close(verdict_of(error), is_open=isinstance(error, TimeoutError))

    def lift_deadline(self) -> None:
        self._deadline = Deadline(None)

    def __del__(self) -> None:
        """Give the connection up for a response that nobody has any more."""
        claim = getattr(self, "_claim", None)
        if claim is not None:
            claim.abandon()

    def __str__(self) -> str:
        return self.connection.backend.where


def take_lease(pool: ConnectionPool, timeout_ms: float | None, error_on_empty: bool) -> Lease:
    """Take a connection whose peer has not closed it, as far as one can see."""
    until = None if timeout_ms is None else time.monotonic() * 1000.0 + timeout_ms
    while True:
        claim: Any = pool.claim(timeout_ms, error_on_empty)
        connection = claim.wait()
        if not connection.is_dropped():
            return Lease(claim, connection)
        claim.close_unused()
        if until is not None:
            timeout_ms = max(0.0, until - time.monotonic() * 1000.0)
