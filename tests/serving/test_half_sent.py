"""Requests that are half sent are closed; idle connections, streams and whole requests are not."""

import asyncio
import json
import socket
from contextlib import closing, suppress
from urllib.parse import urlsplit

import pytest
import uvicorn
from uvicorn.server import ServerState

from atributo_site.serving import connection
from atributo_site.supervisor.ports import inherited, listen
from tests.serving.sse_client import Listening

HEAD = b"POST /api/v1/me HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HALVES = {
    "half a line": b"GET /api/v1/",
    "half a head": b"GET /api/v1/me HTTP/1.1\r\nHost: local",
    "empty lines": b"\r\n\r\n",
    "half a body": HEAD + b"Content-Length: 100\r\n\r\n{",
    "half a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    "no last chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    "half a body that nobody reads": b"GET /healthz HTTP/1.1\r\nContent-Length: 9\r\n\r\n{",
}


@pytest.fixture
def hurry(monkeypatch):
    """hurry(): from now on a request has little time to arrive."""
    monkeypatch.setattr(connection, "ARRIVAL_SECONDS", 300.0)
    return lambda: monkeypatch.setattr(connection, "ARRIVAL_SECONDS", 0.2)


@pytest.fixture
def dial(web):
    """dial() → a new connection to the one port."""
    url = urlsplit(web())
    opened = []

    def connect():
        opened.append(socket.create_connection((url.hostname, url.port), timeout=60))
        return opened[-1]

    connect.url = url.geturl()
    yield connect
    for each in opened:
        each.close()


def rest_of(sock) -> bytes:
    """Return what comes until the other side closes."""
    received = b""
    while part := sock.recv(65536):
        received += part
    return received


@pytest.mark.parametrize("sent", HALVES.values(), ids=HALVES)
def test_a_new_connection_with_half_a_request_is_closed(hurry, dial, sent):
    hurry()
    sock = dial()
    sock.sendall(sent)
    rest_of(sock)


@pytest.mark.parametrize("sent", HALVES.values(), ids=HALVES)
def test_half_a_request_on_a_kept_connection_is_408(hurry, dial, sent):
    sock = dial()
    sock.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
    assert sock.recv(65536).startswith(b"HTTP/1.1 200 ")
    hurry()
    sock.sendall(sent)
    assert (b"HTTP/1.1 408 " in rest_of(sock)) is (b"healthz" not in sent)


def test_the_answer_is_a_problem():
    head, _, body = connection.refusal(408).partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head and b"connection: close" in head
    assert json.loads(body)["code"] == "too_slow"


def test_a_connection_that_sends_nothing_is_closed_without_an_answer(hurry, dial):
    hurry()
    assert rest_of(dial()) == b""


def test_idle_connections_and_streams_wait_for_no_request(dial, bearer, monkeypatch, wait_until):
    made, before = [], connection.Connection.connection_made
    remember = lambda self, transport: made.append(self) or before(self, transport)  # noqa: E731
    monkeypatch.setattr(connection.Connection, "connection_made", remember)
    sock = dial()
    wait_until(lambda: [each._deadline for each in made] != [None] and made)
    sock.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
    assert sock.recv(65536).startswith(b"HTTP/1.1 200 ")
    with Listening(f"{dial.url}/events/stream", bearer("viewer")):
        assert [each._deadline for each in made] == [None, None]


def test_a_request_that_we_do_not_read_yet_has_more_time():
    loop = asyncio.new_event_loop()
    config = uvicorn.Config(asyncio.sleep, **connection.options())
    waiting = connection.Connection(config, ServerState(), {}, loop)
    waiting.pipeline.append((None, None))
    waiting._came_too_late()
    assert waiting._deadline is not None
    loop.close()


def test_a_head_without_an_end_is_refused(dial):
    sock = dial()
    with suppress(ConnectionError):  # more comes than it reads
        sock.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(1000):
            sock.sendall(b"X: " + b"a" * 1000 + b"\r\n")
    with suppress(ConnectionError):
        assert b"200 OK" not in rest_of(sock)


@pytest.mark.parametrize("given", ["own", "inherited"])
def test_small_pieces_of_an_answer_are_sent_at_once(given):
    with listen("127.0.0.1", 0) as made:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, given == "own")
        listener = made if given == "own" else inherited(made.detach())
        with closing(listener), socket.create_connection(listener.getsockname()):
            accepted = listener.accept()[0]
            with closing(accepted):
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
