"""What Python people expect of an HTTP client, and one root for everything that fails."""

import gc
import gzip
import io
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pools import (
    AgentStoppedError,
    ClaimTimeoutError,
    HttpAgent,
    HttpsAgent,
    InvalidInput,
    NoBackendsError,
    PoolFailedError,
    PoolsError,
    ProtocolError,
    ReadTimeoutError,
    RequestError,
    StaticIpResolver,
    StatusError,
    Timeout,
    Tls,
    TooManyRedirects,
    TotalTimeoutError,
)
from tests.pools.http.script import Script, answer
from tests.pools.http.web import Web
from tests.pools.live import LONG
from tests.servers.ports import free_port
from tests.servers.waiting import wait_until


@pytest.fixture
def agent():
    with HttpAgent(spares=0, maximum=2) as made:
        yield made


def test_verbs_params_json_and_forms(agent):
    with Script(*[answer()] * 4) as script:
        agent.get(script.url, params={"a": [1, 2], "b": "x y"})
        agent.post(script.url, json={"a": 1})
        agent.put(script.url, data={"a": 1})
        agent.delete(script.url)
    asked = [head.split(b"\r\n") for head in script.asked]
    lines = [head[0] for head in asked]
    assert lines[0] == b"GET /?a=1&a=2&b=x+y HTTP/1.1"
    assert lines[1:] == [b"POST / HTTP/1.1", b"PUT / HTTP/1.1", b"DELETE / HTTP/1.1"]
    assert b"Content-Type: application/json" in asked[1] and asked[1][-1] == b'{"a":1}'
    assert b"Content-Type: application/x-www-form-urlencoded" in asked[2] and asked[2][-1] == b"a=1"


def test_an_answer_as_text_json_and_status(agent):
    body = json.dumps({"a": "ä"}).encode()
    with Script(answer(body), answer(b"no", "404 Not Found")) as script:
        found = agent.get(script.url)
        assert (found.json(), found.ok, found.status_code) == ({"a": "ä"}, True, 200)
        with pytest.raises(StatusError, match="404 Not Found"):
            agent.get(script.url).raise_for_status()


def test_compressed_and_chunked_answers(agent):
    packed = gzip.compress(b"x" * 10_000)
    chunks = b"5\r\nhello\r\n6;x=1\r\n world\r\n0\r\nTrailer: 1\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Script(answer(packed, Content_Encoding="gzip"), head + chunks, answer()) as script:
        assert agent.get(script.url).data == b"x" * 10_000
        assert agent.get(script.url).data == b"hello world"
        assert agent.get(script.url).data == b"ok"
    assert len(agent.get_pool("127.0.0.1", script.port).machine.slots.all()) == 1


def test_an_answer_piece_by_piece(web, agent):
    web.body = b"x" * 300_000
    with agent.get(web.url(), stream=True) as response:
        assert response.read(10) == b"x" * 10
        assert sum(len(piece) for piece in response) == 299_990
    assert agent.get_pool("127.0.0.1", web.port).get_stats()["idle_connections"] == 1


def test_a_streamed_answer_that_nobody_has_any_more_holds_no_connection(web):
    web.body = b"x" * 3_000_000
    with HttpAgent(spares=0, maximum=1) as agent:
        agent.get(web.url(), stream=True)
        gc.collect()
        web.body = b"hello"
        assert agent.get(web.url()).data == b"hello"


def test_a_streamed_body_may_take_longer_than_the_total_limit(agent):
    pieces = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"ok"]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        go = threading.Event()

        def serve():
            peer, _ = listener.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(pieces[0])
                go.wait(LONG)
                peer.sendall(pieces[1])

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with agent.get(url, stream=True, timeout=Timeout(total=60)) as response:
            assert response._source._deadline.at is None
            go.set()
            assert response.read() == b"ok"
        thread.join()


def test_a_body_that_is_a_generator(web, agent):
    body = io.BytesIO(b"abc")
    assert agent.post(web.url(), body=body, headers={"Content-Length": "3"}).data == b"abc"


def test_redirects_are_followed_by_choice(agent):
    there = answer(status="302 Found", Location="/there")
    with Script(there, there, answer(b"here"), there, there) as script:
        assert agent.post(script.url, data={"a": 1}).status == 302
        found = agent.post(script.url, data={"a": 1}, redirects=3)
        assert (found.data, found.url) == (b"here", f"{script.url}there")
        assert [each.status for each in found.history] == [302]
        assert script.asked[2].startswith(b"GET /there ")
        with pytest.raises(TooManyRedirects):
            agent.get(script.url, redirects=1)


def test_another_origin_gets_no_credentials(web, agent):
    away = answer(status="302 Found", Location=web.url("/x"))
    seen = []
    web.requests = seen
    with Script(away) as script:
        headers = {"Authorization": "secret", "X": "1"}
        assert agent.get(script.url, headers=headers, redirects=1).status == 200
    assert b"Authorization: secret" in script.asked[0]
    from pools.net.http.message import prepare, redirected

    first = prepare("GET", script.url, headers=headers)
    sent, _ = redirected(first, 302, web.url("/x"))
    assert "Authorization" not in dict(sent.headers)
    kept, _ = redirected(first, 302, "/y")
    assert dict(kept.headers)["Authorization"] == "secret"


def test_a_redirect_to_the_other_scheme(agent):
    with Web(tls=True) as secure:
        away = answer(status="301 Moved", Location=f"https://127.0.0.1:{secure.port}/")
        with Script(away) as script, HttpAgent(spares=0, tls=Tls(verify=False)) as trusting:
            assert trusting.get(script.url, redirects=1).data == b"hello"


def test_retries_by_choice(agent):
    busy = answer(b"", "503 Busy")
    with Script(busy, answer(), busy, busy) as script:
        assert agent.get(script.url, retries=1).status == 200
        assert agent.get(script.url, retries=1).status == 503
    with Script(busy) as script:
        assert agent.post(script.url, data={"a": 1}, retries=5).status == 503
        assert len([a for a in script.asked if a.startswith(b"POST")]) == 1


# -- errors ----------------------------------------------------------------------------------


def test_a_silent_server(web, agent):
    web.hang = True
    with pytest.raises(ReadTimeoutError) as caught:
        agent.get(web.url(), timeout=0.05)
    assert isinstance(caught.value, PoolsError) and isinstance(caught.value, TimeoutError)


def test_a_server_that_trickles_has_a_total_limit(agent):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        over = threading.Event()

        def trickle():
            peer, _ = listener.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not over.wait(0.01):
                    peer.sendall(b"x")

        thread = threading.Thread(target=trickle)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(TotalTimeoutError):
            agent.get(url, timeout=Timeout(read=LONG, total=0.2))
        over.set()
        thread.join()


@pytest.mark.parametrize(
    "garbage",
    [
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
    ],
)
def test_what_is_no_http(agent, garbage):
    with Script(garbage) as script, pytest.raises(ProtocolError):
        agent.get(script.url)


def test_an_answer_that_is_cut_off(agent):
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nab"
    with Script(cut) as script, pytest.raises(RequestError, match="before the end"):
        agent.get(script.url)


def test_every_failure_has_one_root(agent):
    for kind in (
        ClaimTimeoutError,
        InvalidInput,
        NoBackendsError,
        PoolFailedError,
        ProtocolError,
        TotalTimeoutError,
    ):
        assert issubclass(kind, PoolsError)
    with pytest.raises(PoolsError):
        agent.get(f"http://127.0.0.1:{free_port()}/")


# -- limits and options ----------------------------------------------------------------------


def test_a_request_has_limits_unless_somebody_says_otherwise(agent):
    assert agent._timeout == Timeout(connect=10, read=60, write=60, total=300)


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), "soon", True])
def test_limits_that_cannot_be_meant(agent, wrong):
    with pytest.raises(InvalidInput, match="timeout"):
        agent.get("http://127.0.0.1/", timeout=wrong)


def test_a_typo_in_an_option_is_named():
    with pytest.raises(TypeError, match=r"HttpAgent has no option 'sparse'; did you mean spares\?"):
        HttpAgent(sparse=1)


@pytest.mark.parametrize("wrong", [None, "x", [None], ["127.0.0.1"], {"address": "127.0.0.1"}])
def test_backends_that_are_none_are_named(wrong):
    with pytest.raises(TypeError, match="backends"):
        StaticIpResolver(wrong, default_port=80)


def test_pools_that_nobody_uses_are_stopped(web):
    with HttpAgent(spares=1, pool_idle_timeout=3_600_000) as agent:
        agent.create_pool("127.0.0.2", web.port)
        agent.get(web.url())
        pool = agent.get_pool("127.0.0.1", web.port)
        agent._sweep()
        agent.get(web.url())
        agent._sweep()
        assert agent.get_pool("127.0.0.1", web.port) is pool
        wait_until(lambda: pool.machine.slots.total == len(pool.machine.idle))
        agent._sweep()
        assert agent.get_pool("127.0.0.1", web.port) is None
        assert agent._claims_seen == {}
        assert pool.wait_for_state("stopped", timeout=LONG) == "stopped"
        assert agent.get_pool("127.0.0.2", web.port) is not None
        assert agent.get(web.url()).status == 200


def test_a_pool_that_somebody_waits_for_is_not_unused():
    slow = {"default": {"timeout": LONG, "retries": 1, "delay": LONG}}
    with HttpAgent(spares=0, recovery=slow) as agent, ThreadPoolExecutor() as threads:
        port = free_port()
        asking = threads.submit(agent.get, f"http://127.0.0.1:{port}/", claim_timeout=LONG)
        wait_until(lambda: agent.get_pool("127.0.0.1", port))
        pool = agent.get_pool("127.0.0.1", port)
        wait_until(lambda: pool.machine.queue.waiting)
        for _ in range(3):
            agent._sweep()
        assert agent.get_pool("127.0.0.1", port) is pool
        agent.stop(drain=0)
        assert isinstance(asking.exception(), AgentStoppedError)


def test_the_sweep_comes_by_itself(web):
    with HttpAgent(spares=1, pool_idle_timeout=5) as agent:
        agent.get(web.url())
        wait_until(lambda: agent.get_pool("127.0.0.1", web.port) is None)


def test_an_agent_needs_no_options_and_shows_its_state(web):
    with HttpAgent() as agent:
        assert agent.get(web.url()).status == 200
        assert repr(agent) == f"<HttpAgent running: 127.0.0.1:{web.port}>"
        assert "running" in repr(agent.get_pool("127.0.0.1", web.port))
    assert repr(agent).startswith("<HttpAgent stopped")
    agent.close()


def test_a_bundle_of_the_environment_overrules_neither_tls_nor_resolver(monkeypatch, tmp_path):
    import requests

    from pools import agent_adapter
    from tests.pools.http.web import CERTIFICATE

    (tmp_path / "other.pem").write_text(CERTIFICATE.read_text())
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "missing.pem"))
    with Web(tls=True) as secure, HttpsAgent(tls=Tls(ca_certs=str(CERTIFICATE))) as agent:
        with StaticIpResolver([{"address": "127.0.0.1", "port": secure.port}]) as resolver:
            agent.create_pool("svc.example", resolver=resolver)
            with requests.Session() as session:
                session.mount("https://", agent_adapter(agent))
                assert session.get("https://svc.example/").text == "hello"
        assert len(agent._pools) == 1
