"""The bytes of HTTP: what is read does not depend on how it comes."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools import HttpAgent, InvalidInput, ProtocolError, WriteTimeoutError
from pools.net.http.message import parse_url, prepare
from pools.net.http.wire import MOST_HEAD, ResponseParser
from tests.pools.live import LONG

BODIES = st.binary(max_size=300)


def split(data, cuts):
    """Return the data in pieces."""
    places = sorted({min(cut, len(data)) for cut in cuts})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def read(pieces, method="GET"):
    parser = ResponseParser(method)
    for piece in pieces:
        if piece:
            parser.feed(piece)
    return parser


@given(BODIES, st.lists(st.integers(0, 500), max_size=6), st.binary(max_size=20))
def test_a_body_with_a_length(body, cuts, rest):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    parser = read(split(head + body + rest, cuts))
    assert (b"".join(parser.body), parser.is_over, parser.rest) == (body, True, rest)


@given(st.lists(BODIES.filter(bool), max_size=4), st.lists(st.integers(0, 900), max_size=8), BODIES)
def test_a_body_in_chunks(chunks, cuts, rest):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    framed = b"".join(b"%x;a=b\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    for trailer in (b"\r\n", b"X: 1\r\nY: 2\r\n\r\n"):
        parser = read(split(head + framed + b"0\r\n" + trailer + rest, cuts))
        assert (b"".join(parser.body), parser.is_over) == (b"".join(chunks), True)
        assert parser.rest == rest


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=4))
def test_garbage_ends_with_an_error_of_ours_or_not_at_all(data, cuts):
    try:
        read(split(data, cuts)).end()
    except ProtocolError:
        return


@pytest.mark.parametrize("status", [204, 304])
def test_answers_without_a_body(status):
    parser = read([b"HTTP/1.1 %d X\r\nContent-Length: 5\r\n\r\n" % status])
    assert parser.is_over and parser.body == []


def test_the_answer_to_a_head_has_no_body():
    assert read([b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"], "HEAD").is_over


@pytest.mark.parametrize(
    ("line", "keeps"),
    [
        ("HTTP/1.1 200 OK\r\nContent-Length: 0", True),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close", False),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0", False),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive", True),
        ("HTTP/1.1 200 OK", False),
    ],
)
def test_whether_a_connection_is_kept(line, keeps):
    assert read([f"{line}\r\n\r\n".encode()]).head.keeps is keeps


def test_a_head_without_an_end():
    with pytest.raises(ProtocolError, match="exceeds"):
        read([b"HTTP/1.1 200 OK\r\n", b"X: 1\r\n" * MOST_HEAD])


@given(st.text(max_size=40), st.text(max_size=40))
def test_nothing_in_a_url_ends_the_line_of_a_request(path, query):
    try:
        address = parse_url(f"http://h.example/{path}", {"q": query})
    except InvalidInput:
        return
    assert address.target.isascii()
    assert not set(address.target) & set(" \r\n\t\0")


@given(st.text(max_size=20), st.text(max_size=20))
def test_nothing_in_a_header_ends_its_line(name, value):
    try:
        request = prepare("GET", "http://h.example/", headers={name: value})
    except InvalidInput:
        return
    assert all("\r" not in part and "\n" not in part for pair in request.headers for part in pair)


def test_a_server_that_takes_nothing_has_a_limit():
    with socket.create_server(("127.0.0.1", 0)) as listener, HttpAgent(spares=0) as agent:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(WriteTimeoutError):
            agent.post(url, body=b"x" * 50_000_000, timeout=0.2, claim_timeout=LONG)
