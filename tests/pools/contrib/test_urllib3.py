"""`urllib3` on top of agents: AgentPoolManager stands in the place of PoolManager."""

import pytest
import urllib3

from pools.contrib.urllib3_manager import AgentPoolManager
from tests.pools.http.script import Script, answer
from tests.servers.ports import free_port


@pytest.fixture
def manager():
    with AgentPoolManager(spares=0, maximum=2) as made:
        yield made


def test_requests_bodies_and_streams(web, manager):
    assert manager.request("GET", web.url("/x"), fields={"y": "1"}).data == b"hello"
    assert manager.request("POST", web.url(), body=b"abc").data == b"abc"
    response = manager.request("GET", web.url(), preload_content=False)
    assert b"".join(response.stream(2)) == b"abc"
    assert web.paths()[0] == "/x?y=1"


def test_redirects_are_followed_as_urllib3_does(manager):
    with Script(answer(status="302 Found", Location="/there"), answer(b"here")) as script:
        assert manager.request("GET", script.url).data == b"here"


def test_failures_are_those_of_urllib3(web, manager):
    with pytest.raises(urllib3.exceptions.HTTPError):
        manager.request("GET", f"http://127.0.0.1:{free_port()}/")
    web.hang = True
    with pytest.raises(urllib3.exceptions.TimeoutError):
        manager.request("GET", web.url(), timeout=urllib3.Timeout(read=0.05))
    with pytest.raises(urllib3.exceptions.LocationValueError):
        manager.request("GET", "ftp://127.0.0.1/")
