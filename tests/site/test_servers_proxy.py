"""The TCP proxy passes what it should and breaks what it is told to break."""

import contextlib
import socket
import socketserver
import threading
import time

import pytest

from tests.servers.ports import free_port
from tests.servers.proxy import TCPProxy
from tests.servers.waiting import wait_until

LONG_SECONDS = 60  # a machine that stands still is no finding


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        with contextlib.suppress(ConnectionError):
            while chunk := self.request.recv(65536):
                self.server.received += chunk
                self.request.sendall(chunk)
        self.server.ended.set()


class EchoServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, address, handler):
        self.received = bytearray()
        self.ended = threading.Event()
        super().__init__(address, handler)


class UnixEchoServer(EchoServer):
    address_family = socket.AF_UNIX


@contextlib.contextmanager
def running(server):
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def echo():
    with running(EchoServer(("127.0.0.1", 0), Echo)) as server:
        yield server


@pytest.fixture
def proxy(echo):
    with TCPProxy(*echo.server_address) as proxy:
        yield proxy


@contextlib.contextmanager
def connected(proxy, timeout=LONG_SECONDS):
    with socket.create_connection((proxy.address, proxy.port), timeout) as client:
        yield client


def say(client, text=b"hello"):
    client.sendall(text)
    return client.recv(65536)


def assert_silent(client):
    client.settimeout(0.1)
    with pytest.raises(TimeoutError):
        client.recv(1)


def test_pass_carries_both_ways_and_counts(proxy):
    with connected(proxy) as first, connected(proxy) as second:
        assert say(first) == say(second) == b"hello"
        assert (proxy.connections, proxy.open_connections) == (2, 2)


def test_the_end_of_the_request_is_passed_on(proxy, echo):
    with connected(proxy) as client:
        client.sendall(b"last words")
        client.shutdown(socket.SHUT_WR)
        assert client.recv(100) == b"last words"
        assert client.recv(100) == b""
    assert echo.ended.wait(60)


def test_large_transfers_arrive_whole(proxy):
    payload = bytes(range(256)) * 8000
    with connected(proxy) as client:
        writer = threading.Thread(target=client.sendall, args=(payload,))
        writer.start()
        received = bytearray()
        while len(received) < len(payload):
            received += client.recv(65536)
        writer.join()
    assert received == payload


def test_a_unix_socket_can_be_the_target(tmp_path):
    path = str(tmp_path / "echo.sock")
    with (
        running(UnixEchoServer(path, Echo)),
        TCPProxy(path) as proxy,
        connected(proxy) as client,
    ):
        assert say(client) == b"hello"


def test_refuse_closes_new_connections_and_keeps_open_ones(proxy):
    with connected(proxy) as old:
        say(old)
        proxy.mode = "refuse"
        with pytest.raises(ConnectionError), connected(proxy) as new:
            new.recv(1)
            raise ConnectionResetError("an early end counts as well")
        assert say(old) == b"hello"


def test_blackhole_swallows(proxy, echo):
    proxy.mode = "blackhole"
    with connected(proxy) as client:
        client.sendall(b"anybody there?")
        assert_silent(client)
    assert not echo.received


def test_blackhole_silences_open_connections_until_it_passes_again(proxy):
    with connected(proxy) as client:
        say(client)
        proxy.mode = "blackhole"
        client.sendall(b"lost")
        wait_until(lambda: proxy.swallowed_bytes == len(b"lost"))
        assert_silent(client)
        proxy.mode = "pass"
        client.settimeout(LONG_SECONDS)
        assert say(client, b"found") == b"found"


def test_cut_resets_open_connections_and_later_ones(proxy):
    with connected(proxy) as client:
        say(client)
        proxy.mode = "cut"
        assert proxy.open_connections == 0
        with pytest.raises(ConnectionResetError):
            client.recv(1)
    with pytest.raises(ConnectionError), connected(proxy) as later:
        say(later)


def test_after_a_cut_new_connections_can_pass(proxy):
    proxy.mode = "cut"
    proxy.mode = "pass"
    with connected(proxy) as client:
        assert say(client) == b"hello"


def test_a_single_cut_resets_what_is_open_and_nothing_later(proxy):
    with connected(proxy) as client:
        say(client)
        proxy.cut()
        with pytest.raises(ConnectionResetError):
            client.recv(1)
    with connected(proxy) as later:
        assert say(later) == b"hello"


def test_cut_reply_lets_the_request_through_and_loses_one_reply(proxy, echo):
    with connected(proxy) as client:
        say(client)
        proxy.mode = "cut_reply"
        with pytest.raises(ConnectionResetError):
            say(client, b"committed")
    assert echo.received.endswith(b"committed")
    assert proxy.mode == "pass"
    with connected(proxy) as client:
        assert say(client) == b"hello"


def test_cut_reply_may_wait_for_another_reply(proxy):
    proxy.reply_before, proxy.reply_to_cut = b"insert", b"commit"
    proxy.mode = "cut_reply"
    with connected(proxy) as client:
        assert [say(client, word) for word in (b"commit", b"insert")] == [b"commit", b"insert"]
        with pytest.raises(ConnectionResetError):
            say(client, b"commit")


def test_cut_request_loses_one_request(proxy, echo):
    proxy.request_to_cut = b"commit"
    proxy.mode = "cut_request"
    with connected(proxy) as client:
        assert say(client, b"insert") == b"insert"
        with pytest.raises(ConnectionResetError):
            say(client, b"commit")
    assert (proxy.mode, bytes(echo.received)) == ("pass", b"insert")


def test_cut_after_some_bytes(proxy, echo):
    proxy.cut_after_bytes = 3
    proxy.mode = "cut_after"
    with connected(proxy) as client, pytest.raises(ConnectionResetError):
        say(client)
    assert echo.ended.wait(60)
    assert echo.received == b"hel"


def test_cut_after_counts_both_ways(proxy):
    proxy.cut_after_bytes = 8
    proxy.mode = "cut_after"
    with connected(proxy) as client:
        client.sendall(b"hello")
        received = b""
        with pytest.raises(ConnectionResetError):
            while True:
                received += client.recv(1)
    assert received in (b"", b"h", b"he", b"hel")  # a reset may overtake what it follows


def test_delay_takes_its_time(proxy):
    proxy.delay_ms = 60
    proxy.mode = "delay"
    with connected(proxy) as client:
        began = time.monotonic()
        assert say(client) == b"hello"
    assert time.monotonic() - began >= 0.12


def test_a_delay_ends_when_the_mode_changes(proxy):
    proxy.delay_ms = 60_000
    proxy.mode = "delay"
    with connected(proxy) as client:
        client.sendall(b"hello")
        assert_silent(client)
        proxy.mode = "pass"
        client.settimeout(LONG_SECONDS)
        assert client.recv(100) == b"hello"


def test_half_open_leaves_the_target_and_keeps_the_client(proxy, echo):
    with connected(proxy) as client:
        say(client)
        proxy.mode = "half_open"
        assert echo.ended.wait(60)
        client.sendall(b"still there?")
        assert_silent(client)
        assert proxy.open_connections == 1


def test_drip_sends_byte_by_byte(proxy):
    proxy.delay_ms = 5
    proxy.mode = "drip"
    with connected(proxy) as client:
        began = time.monotonic()
        client.sendall(b"abc")
        assert [client.recv(1) for _ in range(3)] == [b"a", b"b", b"c"]
    assert time.monotonic() - began >= 0.03  # three waits there and three back


def test_a_dead_target_is_a_reset(echo):
    with (
        TCPProxy("127.0.0.1", free_port()) as proxy,
        pytest.raises(ConnectionError),
        connected(proxy) as client,
    ):
        say(client)


def test_unknown_modes_are_named(proxy):
    with pytest.raises(ValueError, match="no mode explode; there are pass"):
        proxy.mode = "explode"


def test_the_end_cuts_what_is_open(echo):
    with contextlib.ExitStack() as clients:
        with TCPProxy(*echo.server_address) as proxy:
            client = clients.enter_context(connected(proxy))
            say(client)
        with pytest.raises(ConnectionResetError):
            client.recv(1)
