"""HTTP and HTTPS agents against real servers on loopback."""

import io
import threading

import pytest

from pools import (
    AgentStoppedError,
    ClaimTimeoutError,
    HealthPolicy,
    InvalidInput,
    NoBackendsError,
    PoolExistsError,
    PoolFailedError,
    PoolsError,
    RequestError,
    StaticIpResolver,
)
from tests.pools.http.web import Web
from tests.pools.live import LONG
from tests.servers.dns.server import DNSServer
from tests.servers.ports import free_port
from tests.servers.proxy.server import TCPProxy
from tests.servers.waiting import wait_until


def test_a_request_and_its_answer(web, make_agent):
    agent = make_agent()
    answer = agent.request("GET", web.url("/path?x=1"))
    assert (answer.status, answer.data) == (200, b"hello")
    assert web.requests == [("GET", "/path?x=1", f"127.0.0.1:{web.port}")]


def test_a_body_is_sent(web, make_agent):
    assert make_agent().request("POST", web.url(), body=b"abc").data == b"abc"


UNSENDABLE = [
    {"headers": {"X": "a\r\nb"}},
    {"headers": {"X": "\u20ac"}},
    {"body": object()},
    {"method": "GE T"},
    {"timeout": 0},
]


@pytest.mark.parametrize("wrong", UNSENDABLE)
def test_a_request_that_cannot_be_sent_says_nothing_about_the_backend(web, make_agent, wrong):
    agent = make_agent(maximum=1, outliers=None)
    for _ in range(6):
        with pytest.raises((ValueError, TypeError)):
            agent.request(**{"method": "POST", "url": web.url(), **wrong})
    assert agent.request("GET", web.url()).status == 200
    assert not agent.get_pool("127.0.0.1", web.port).get_stats()["counters"].get("failed-state")


def test_connections_are_used_again(web, make_agent):
    agent = make_agent(maximum=1)
    for _ in range(10):
        agent.request("GET", web.url())
    assert agent.get_pool("127.0.0.1", web.port).get_stats()["total_connections"] == 1


def test_h1_each_port_has_its_own_pool(web, make_agent):
    agent = make_agent()
    with Web() as other:
        other.body = b"other"
        assert agent.request("GET", web.url()).data == b"hello"
        assert agent.request("GET", other.url()).data == b"other"


@pytest.mark.parametrize("status", [200, 404])
def test_h2_a_ping_that_is_answered_keeps_the_connection(web, make_agent, status):
    agent = make_agent(ping="/ping", ping_interval=5, ping_limit=LONG)
    agent.request("GET", web.url())
    web.status = status
    wait_until(lambda: web.paths().count("/ping") > 5)
    pool = agent.get_pool("127.0.0.1", web.port)
    assert pool.get_stats()["counters"].get("check-failed", 0) == 0


def test_h2_a_ping_answered_503_makes_the_backend_dead(web, make_agent):
    agent = make_agent(ping="/ping", ping_interval=5)
    agent.request("GET", web.url())
    pool = agent.get_pool("127.0.0.1", web.port)
    web.status = 503
    pool.wait_for_state("failed", timeout=LONG)
    with pytest.raises(PoolFailedError):
        agent.request("GET", web.url())
    web.status = 200
    pool.wait_for_state("running", timeout=LONG)


def test_h2_a_ping_that_hangs_counts_as_a_failure(web, make_agent):
    health = HealthPolicy(fall=1)
    agent = make_agent(ping="/ping", ping_interval=5, ping_limit=30, health=health)
    agent.create_pool("127.0.0.1", web.port)
    web.hang = True
    pool = agent.get_pool("127.0.0.1", web.port)
    pool.wait_for_state("failed", timeout=LONG)
    assert pool.get_stats()["counters"]["check-failed"] >= 1


def test_a_ping_with_a_huge_answer_is_a_failure(web, make_agent):
    web.body = b"x" * 200_000
    agent = make_agent(ping="/ping", ping_interval=5, health=HealthPolicy(fall=1))
    agent.create_pool("127.0.0.1", web.port).wait_for_state("failed", timeout=LONG)


def test_h3_a_refused_backend_is_told_at_once(make_agent):
    port = free_port()
    agent = make_agent()
    for _ in range(2):
        with pytest.raises(PoolFailedError) as caught:
            agent.request("GET", f"http://127.0.0.1:{port}/")
        assert "refused" in str(caught.value.__cause__)


def test_a_claim_that_waited_for_a_refused_backend_says_why(make_agent):
    """Patience that ended before the attempts did hid the reason."""
    patient = {"timeout": LONG, "max_timeout": LONG, "retries": 9999, "delay": 20, "max_delay": 20}
    agent = make_agent(recovery={"default": patient})
    pool = agent.create_pool("127.0.0.1", free_port())
    wait_until(lambda: pool.last_error)
    with pytest.raises(ClaimTimeoutError, match="refused") as caught:
        pool.claim(timeout=20).wait()
    assert "refused" in str(caught.value.__cause__)


def test_a_claim_that_waited_for_other_claims_blames_no_backend(web, make_agent):
    agent = make_agent(maximum=1, spares=1)
    with agent.get(web.url(), stream=True):
        with pytest.raises(ClaimTimeoutError) as caught:
            agent.get(web.url(), claim_timeout=20)
        assert caught.value.__cause__ is None


def test_h4_stop_is_the_end(web, make_agent):
    agent = make_agent()
    agent.request("GET", web.url())
    agent.stop()
    assert agent.is_stopped()
    agent.wait_stopped(LONG)
    for use in (
        agent.stop,
        lambda: agent.request("GET", web.url()),
        lambda: agent.create_pool("other.example"),
    ):
        with pytest.raises(AgentStoppedError):
            use()


def test_h4_a_second_pool_for_a_host_is_refused(web, make_agent):
    agent = make_agent()
    agent.create_pool("127.0.0.1", web.port)
    with pytest.raises(PoolExistsError):
        agent.create_pool("127.0.0.1", web.port)


def test_h4_a_given_resolver_goes_on_running(web, make_agent):
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": web.port}])
    resolver.start()
    agent = make_agent()
    agent.create_pool("svc.example", resolver=resolver)
    assert agent.request("GET", "http://svc.example/").data == b"hello"
    assert web.requests[0][2] == "svc.example"
    agent.stop()
    agent.wait_stopped(LONG)
    assert resolver.state == "running"
    resolver.stop()


def test_a_pool_is_found_by_host_and_port(web, make_agent):
    agent = make_agent()
    assert agent.get_pool("127.0.0.1", web.port) is None
    pool = agent.create_pool("127.0.0.1", web.port)
    assert agent.get_pool("127.0.0.1", web.port) is pool


def test_initial_domains_have_pools_at_once(make_agent):
    agent = make_agent(initial_domains=["127.0.0.1"])
    assert agent.get_pool("127.0.0.1") is not None


def test_the_host_is_found_in_dns(web, make_agent):
    with DNSServer() as dns:
        dns.set("_http._tcp.svc.example", "SRV", [(0, 0, web.port, "a.svc.example")])
        dns.set("a.svc.example", "A", ["127.0.0.1"])
        agent = make_agent(resolvers=[f"127.0.0.1:{dns.port}"])
        assert agent.request("GET", "http://SVC.example/x").data == b"hello"
        assert web.requests == [("GET", "/x", "svc.example")]


def test_an_unknown_host_is_an_error(make_agent):
    with DNSServer() as dns:
        agent = make_agent(resolvers=[f"127.0.0.1:{dns.port}"], error_on_empty=True)
        with pytest.raises((PoolFailedError, NoBackendsError)):
            agent.request("GET", "http://svc.example/")


URLS = ["https://h/", "ftp://h/", "h", "/path", "http:///x", "http://h:x/", "http://[::1/"]


@pytest.mark.parametrize("url", URLS)
def test_other_schemes_and_missing_hosts_are_refused(make_agent, url):
    with pytest.raises(InvalidInput):
        make_agent().request("GET", url)


NOT_AGENTS = [{"spares": 9}, {"recovery": {}}, {"resolvers": [5]}]
NOT_AGENTS += [{"max_waitign": 9}, {"max_waiting": 0}]


@pytest.mark.parametrize("wrong", NOT_AGENTS)
def test_an_agent_that_cannot_work_is_not_made(make_agent, wrong):
    with pytest.raises((InvalidInput, TypeError)):
        make_agent(**{"maximum": 4, **wrong})


def test_ipv6_literals(make_agent):
    agent = make_agent()
    with pytest.raises(PoolFailedError):
        agent.request("GET", "http://[::1]:9/")
    assert agent.get_pool("::1", 9) is not None


def test_a_connection_that_the_server_ends_is_replaced(web, make_agent):
    web.keeps = False
    agent = make_agent(maximum=1)
    for _ in range(5):
        assert agent.request("GET", web.url()).data == b"hello"


def test_a_kept_connection_that_was_cut_is_not_noticed_by_the_caller(web, make_agent):
    with TCPProxy("127.0.0.1", web.port) as proxy:
        agent = make_agent(maximum=1, spares=1)
        url = f"http://127.0.0.1:{proxy.port}/"
        agent.request("GET", url)
        proxy.cut()
        assert agent.request("GET", url).status == 200


@pytest.fixture
def cut(web, make_agent):
    """Return an agent with a kept connection that is cut in the middle of its next exchange."""
    with TCPProxy("127.0.0.1", web.port) as proxy:
        agent = make_agent(maximum=1, spares=1)
        url = f"http://127.0.0.1:{proxy.port}/"
        agent.request("GET", url)
        proxy.mode = "cut_reply"
        yield agent, url


@pytest.mark.parametrize("body", [b"abc", io.BytesIO(b"abc"), [b"a", b"bc"]])
def test_a_request_that_is_sent_again_has_its_whole_body(cut, body):
    agent, url = cut
    answer = agent.request("PUT", url, body, {"Content-Length": "3"}, timeout=LONG)
    assert answer.data == b"abc"


def test_a_body_that_is_used_up_is_not_sent_again(web, cut):
    agent, url = cut
    with pytest.raises(RequestError):
        agent.request("PUT", url, iter([b"abc"]), {"Content-Length": "3"}, timeout=LONG)
    assert [method for method, _, _ in web.requests] == ["GET", "PUT"]


def test_a_request_has_a_time_limit(web, make_agent):
    agent = make_agent()
    web.hang = True
    with pytest.raises(TimeoutError):
        agent.request("GET", web.url(), timeout=0.05)


def test_a_claim_has_a_time_limit(web, make_agent):
    agent = make_agent(maximum=1, spares=0)
    response = agent.request("GET", web.url(), preload_content=False)
    with pytest.raises(ClaimTimeoutError):
        agent.request("GET", web.url(), claim_timeout=20)
    response.read()
    assert agent.request("GET", web.url()).status == 200


@pytest.mark.parametrize("end", ["read", "close", "release_conn"])
def test_a_streamed_response_gives_its_connection_back(web, make_agent, end):
    agent = make_agent(maximum=1, spares=0)
    for _ in range(3):
        response = agent.request("GET", web.url(), preload_content=False)
        getattr(response, end)()
    pool = agent.get_pool("127.0.0.1", web.port)
    wait_until(lambda: pool.get_stats()["idle_connections"] == 1 or end == "close")
    assert pool.get_stats()["waiter_count"] == 0


def test_bad_answers_send_a_backend_to_rest(make_agent):
    with Web() as bad, Web() as good:
        bad.status = 500
        both = [{"address": "127.0.0.1", "port": server.port} for server in (bad, good)]
        resolver = StaticIpResolver(both)
        resolver.start()
        agent = make_agent(maximum=4, spares=2)
        pool = agent.create_pool("svc.example", resolver=resolver)
        wait_until(lambda: len({slot.key for slot in list(pool.machine.idle)}) == 2)
        for _ in range(60):
            agent.request("GET", "http://svc.example/")
        wait_until(lambda: pool.machine.roster.outliers.ejected)
        bad.requests.clear()
        assert {agent.request("GET", "http://svc.example/").status for _ in range(20)} == {200}
        resolver.stop()


def test_many_threads_share_a_few_connections(web, make_agent):
    agent = make_agent(maximum=3)
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(agent.request("GET", web.url()).status))
        for _ in range(30)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 30


@pytest.mark.parametrize("mode", ["refuse", "cut"])
def test_a_backend_that_hangs_up_at_once_is_not_hammered(web, make_agent, mode):
    with TCPProxy("127.0.0.1", web.port) as proxy:
        proxy.mode = mode
        with pytest.raises(PoolsError):
            make_agent().request("GET", f"http://127.0.0.1:{proxy.port}/", claim_timeout=LONG)
        assert proxy.connections < 20


def test_a_reset_in_the_middle_is_raised(web, make_agent):
    web.body = b"x" * 100_000
    with TCPProxy("127.0.0.1", web.port) as proxy:
        agent = make_agent(maximum=1)
        agent.create_pool("127.0.0.1", proxy.port).wait_for_state("running", timeout=LONG)
        proxy.cut_after_bytes = 5000
        proxy.mode = "cut_after"
        with pytest.raises(RequestError):
            agent.request("GET", f"http://127.0.0.1:{proxy.port}/")
