"""`urllib3` on top of agents: AgentPoolManager stands in the place of PoolManager."""

import io
import ssl

import pytest
import urllib3

from pools.contrib.urllib3_manager import AgentPoolManager
from pools.contrib.urllib3_response import limits_of
from tests.pools.http.script import Script, answer
from tests.pools.http.web import CERTIFICATE, Web
from tests.servers.ports import free_port

RECOVERY = {"default": {"timeout": 20_000, "retries": 4, "delay": 10, "max_delay": 50}}
OPTIONS = {"spares": 0, "maximum": 2, "recovery": RECOVERY}
FAILURES = urllib3.exceptions


@pytest.fixture
def manager():
    with AgentPoolManager(**OPTIONS) as made:
        yield made


def test_requests_bodies_and_streams(web, manager):
    assert manager.request("GET", web.url("/x"), fields={"y": "1"}).data == b"hello"
    assert manager.request("POST", web.url(), body=b"abc").data == b"abc"
    response = manager.request("GET", web.url(), preload_content=False)
    assert b"".join(response.stream(2)) == b"abc"
    assert web.paths()[0] == "/x?y=1"


def test_the_options_of_urllib3():
    options = {"num_pools": 3, "maxsize": 4, "block": True, "retries": 2}
    with AgentPoolManager(**options, headers={"X-Of": "all"}, timeout=60) as manager:
        agent = manager._agents["http"]
        with Script(answer()) as script:
            manager.request("GET", script.url)
            assert agent.get_pool("127.0.0.1", script.port).machine.maximum == 4
    assert b"X-Of: all" in script.asked[0]


def test_a_number_limits_connecting_and_each_read_but_not_the_whole():
    limits = limits_of(2.5)
    assert (limits.connect, limits.read, limits.total) == (2.5, 2.5, None)


def test_redirects_are_followed_and_counted_as_urllib3_does(manager):
    found = answer(status="302 Found", Location="/there")
    with Script(found, answer(b"here"), found, found, found) as script:
        assert manager.request("GET", script.url).data == b"here"
        assert manager.request("GET", script.url, redirect=False).status == 302
        with pytest.raises(FAILURES.MaxRetryError, match="too many redirects"):
            manager.request("GET", script.url, retries=1)


def test_retries_are_those_of_urllib3(manager):
    busy = answer(status="503 Service Unavailable")
    with Script(busy, answer(b"well"), b"", answer(b"again")) as script:
        retries = urllib3.Retry(2, status_forcelist=[503])
        assert manager.request("GET", script.url, retries=retries).data == b"well"
        assert manager.request("GET", script.url).data == b"again"


def test_a_body_is_sent_again_from_its_beginning(web, manager):
    web.status = 503
    options = {"body": io.BytesIO(b"abc"), "headers": {"Content-Length": "3"}}
    retries = urllib3.Retry(1, status_forcelist=[503], allowed_methods=None)
    with pytest.raises(FAILURES.MaxRetryError, match="503 error responses"):
        manager.request("POST", web.url(), retries=retries, **options)
    assert (len(web.requests), web.body) == (2, b"abc")


def test_failures_are_those_of_urllib3(web, manager):
    with pytest.raises(FAILURES.MaxRetryError) as caught:
        manager.request("GET", f"http://127.0.0.1:{free_port()}/")
    assert isinstance(caught.value.reason, FAILURES.NewConnectionError)
    web.hang = True
    silent = urllib3.Timeout(read=0.05)
    with pytest.raises(FAILURES.MaxRetryError) as caught:
        manager.request("GET", web.url(), timeout=silent, retries=1)
    assert isinstance(caught.value.reason, FAILURES.ReadTimeoutError)
    with pytest.raises(FAILURES.ReadTimeoutError):
        manager.request("GET", web.url(), timeout=silent, retries=False)
    for wrong in ("ftp://127.0.0.1/", "http://foo..bar/"):
        with pytest.raises(FAILURES.LocationValueError):
            manager.request("GET", wrong)


def test_certificates_are_checked_as_the_options_say():
    with Web(tls=True) as secure:
        url = f"https://127.0.0.1:{secure.port}/"
        for options in ({}, {"ca_certs": str(CERTIFICATE)}):
            manager = AgentPoolManager(**OPTIONS, **options)
            with manager, pytest.raises(FAILURES.SSLError):
                manager.request("GET", url, retries=False)
        for options in ({"cert_reqs": "CERT_NONE"}, {"ssl_context": unchecked()}):
            with AgentPoolManager(**OPTIONS, **options) as manager:
                assert manager.request("GET", url).data == b"hello"


def unchecked():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
