"""The site is killed, away, silent or another one: what the client does, and what it says."""

import signal
import socket
import threading

import pytest

from atributo_client import Retries
from atributo_client.errors import (
    AuthenticationFailed,
    Forbidden,
    InDoubt,
    NoAnswer,
    NotAtributo,
    Unreachable,
)
from queues.models import QueuedJob
from tests.factories.jobs import make_queue, make_script
from tests.servers.ports import stop_listening

SCRIPT = {"mount": "/mailer", "name": "send-mail"}
LONG = Retries(attempts=10_000, patience_seconds=300, longest_pause_seconds=0.2)
ONCE = Retries(attempts=1)


def test_a_push_outlives_a_killed_server(web_process, token_of, connect):
    make_queue(), make_script()
    process = web_process()
    client = connect(process.url, token_of("operator"), retries=LONG)
    ids = [client.push("mail", SCRIPT, {"to": "a"})]
    process.send_signal(signal.SIGKILL)
    process.wait()
    starting = threading.Thread(target=web_process)
    starting.start()
    ids.append(client.push("mail", SCRIPT, {"to": "b"}))
    starting.join()
    assert sorted(ids) == sorted(map(str, QueuedJob.objects.values_list("id", flat=True)))


class OneDeafServer:
    """Take connections and requests, and never answer, or close when the request is whole."""

    def __init__(self, answer=None):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests = []
        self._answer = answer
        self._kept = []
        self._server = threading.Thread(target=self._serve, daemon=True)
        self._server.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.requests.append(connection.recv(65536))
            if self._answer is not None:
                connection.sendall(self._answer)
                connection.close()
            self._kept.append(connection)

    def close(self):
        stop_listening(self._listener, self._server)
        for connection in self._kept:
            connection.close()


@pytest.fixture
def deaf():
    servers = []

    def start(answer=None):
        servers.append(OneDeafServer(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_a_lost_answer_is_asked_for_again_with_the_same_key(deaf, connect):
    server = deaf(b"")
    client = connect(server.url, "t", retries=Retries(attempts=3, first_pause_seconds=0.01))
    with pytest.raises(InDoubt, match="idempotency key order-7"):
        client.push("mail", SCRIPT, idempotency_key="order-7")
    assert len(server.requests) == 3
    assert all(b"order-7" in request for request in server.requests)


def test_a_change_without_a_key_is_sent_once(deaf, connect):
    server = deaf(b"")
    with pytest.raises(InDoubt, match="may be done or not"):
        connect(server.url, "t").queues.change("mail", max_workers=2)
    assert len(server.requests) == 1


def test_a_silent_site_is_a_clear_error(deaf, connect):
    client = connect(deaf().url, "t", timeout_seconds=0.2, retries=ONCE)
    with pytest.raises(NoAnswer, match=r"did not answer within 0\.2 s"):
        client.me()


def test_an_address_without_a_site_is_a_clear_error(free_port, connect):
    client = connect(f"http://127.0.0.1:{free_port}", "t", retries=ONCE)
    with pytest.raises(Unreachable, match="cannot be reached"):
        client.me()


def test_another_site_is_a_clear_error(deaf, connect):
    page = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno"
    with pytest.raises(NotAtributo, match=r"404 \(text/html\)") as caught:
        connect(deaf(page).url, "t").me()
    assert caught.value.status == 404


def test_a_page_of_another_site_is_no_answer(deaf, connect):
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno"
    with pytest.raises(NotAtributo, match=r"200 \(text/html\)"):
        connect(deaf(page).url, "t").me()


def test_a_redirect_is_not_followed_with_the_token(deaf, connect):
    moved = b"HTTP/1.1 301 Moved\r\nLocation: https://b.example/\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(NotAtributo, match=r"points to https://b\.example/"):
        connect(deaf(moved).url, "t").me()


def test_a_wrong_token_is_a_clear_error(web, connect):
    with pytest.raises(AuthenticationFailed) as caught:
        connect(web(), "wrong").me()
    assert caught.value.status == 401


def test_too_few_rights_are_a_clear_error(web, token_of, connect):
    with pytest.raises(Forbidden):
        connect(web(), token_of("viewer")).instances.available("a")


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://a", "http://", "http:///x"])
def test_an_address_that_is_none_is_refused_at_once(url, connect):
    with pytest.raises(ValueError, match="address of the site"):
        connect(url, "t")


@pytest.mark.parametrize("token", ["", "a\nb", "ä"])
def test_a_token_that_is_none_is_refused_and_not_shown(token, connect):
    with pytest.raises(ValueError, match="visible ASCII") as caught:
        connect("http://localhost", token)
    assert not token or token not in str(caught.value)


def test_the_token_is_in_no_text_about_the_client(connect):
    client = connect("http://localhost", "s3cret")
    settings = client._shell.settings
    assert "s3cret" not in repr(settings) + repr(getattr(client, "_target", client))
