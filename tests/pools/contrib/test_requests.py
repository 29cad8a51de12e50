"""The package `requests` on top of an agent, as programs that know nothing of pools use it."""

import pytest
import requests
import urllib3

from pools import HttpAgent, HttpsAgent, agent_adapter
from tests.pools.http.web import CERTIFICATE, Web
from tests.pools.live import LONG
from tests.servers.proxy.server import TCPProxy
from tests.servers.waiting import wait_until

RECOVERY = {"default": {"timeout": 20_000, "retries": 1, "delay": 10, "max_delay": 50}}
FAILURES = requests.exceptions


@pytest.fixture
def web():
    with Web() as server:
        yield server


@pytest.fixture
def agent():
    made = HttpAgent(spares=0, maximum=1, recovery=RECOVERY)
    yield made
    made.stop(drain=0)
    made.wait_stopped(LONG)


@pytest.fixture
def session(agent):
    secure = HttpsAgent(spares=0, maximum=1, recovery=RECOVERY)
    with requests.Session() as made:
        made.mount("http://", agent_adapter(agent))
        made.mount("https://", agent_adapter(secure))
        yield made
    secure.stop(drain=0)
    secure.wait_stopped(LONG)


def test_requests_can_use_an_agent(web, agent, session):
    assert session.get(web.url("/x"), params={"y": 1}).text == "hello"
    assert session.post(web.url(), data=b"abc").content == b"abc"
    assert web.paths() == ["/x?y=1", "/"]
    wait_until(lambda: agent.get_pool("127.0.0.1", web.port).get_stats()["idle_connections"] == 1)


def test_what_is_not_http_or_not_there_is_a_connection_error(web, session):
    web.status = 99999  # no status line of HTTP
    for url in (web.url(), "http://127.0.0.1:9/"):
        with pytest.raises(FAILURES.ConnectionError):
            session.get(url)


def test_a_silent_server_is_a_read_timeout(web, session):
    web.hang = True
    with pytest.raises(FAILURES.ReadTimeout):
        session.get(web.url(), timeout=(LONG, 0.05))


def test_a_pool_in_use_is_a_connect_timeout(web, session):
    with session.get(web.url(), stream=True), pytest.raises(FAILURES.ConnectTimeout):
        session.get(web.url(), timeout=(0.01, LONG))


@pytest.mark.parametrize("timeout", [LONG, (LONG, None), urllib3.Timeout(connect=LONG, read=LONG)])
def test_a_timeout_has_every_form_that_requests_knows(web, session, timeout):
    assert session.get(web.url(), timeout=timeout).text == "hello"


@pytest.mark.parametrize("timeout", [0, (1, 2, 3), "soon"])
def test_a_timeout_that_cannot_be_meant_is_the_callers_mistake(web, session, timeout):
    with pytest.raises(ValueError, match="[Tt]imeout"):
        session.get(web.url(), timeout=timeout)
    assert web.requests == []


@pytest.mark.parametrize("host", ["foo..bar", "1.2.3"])
def test_a_host_that_cannot_be_is_an_invalid_url(session, host):
    with pytest.raises(FAILURES.InvalidURL):
        session.get(f"http://{host}/")


def test_certificates_are_checked_as_the_session_says(session, tmp_path):
    with Web(tls=True) as secure:
        url = f"https://127.0.0.1:{secure.port}/"
        with pytest.raises(FAILURES.SSLError, match="CERTIFICATE_VERIFY_FAILED"):
            session.get(url)
        with pytest.raises(FAILURES.SSLError):
            session.get(url, verify=str(tmp_path))  # a folder of certificates, an empty one
        with pytest.raises(FAILURES.SSLError, match="IP address mismatch"):
            session.get(url, verify=str(CERTIFICATE))
        assert session.get(url, verify=False).text == "hello"


def test_an_answer_that_breaks_off_counts_against_its_backend(web, agent, session):
    web.body = b"x" * 100_000
    with TCPProxy("127.0.0.1", web.port) as proxy:
        proxy.cut_after_bytes = 5000
        proxy.mode = "cut_after"
        with pytest.raises((FAILURES.ConnectionError, FAILURES.ChunkedEncodingError)):
            session.get(f"http://127.0.0.1:{proxy.port}/")
        pool = agent.get_pool("127.0.0.1", proxy.port)
        assert list(pool.machine.roster.outliers.strikes.values()) == [1]
