"""HTTPS agents: whose certificate they trust."""

import select

import pytest

from pools import HttpsAgent, PoolFailedError, StaticIpResolver, Tls
from tests.pools.http.web import CERTIFICATE, Web
from tests.pools.live import LONG
from tests.servers.dns.server import DNSServer
from tests.servers.waiting import wait_until


@pytest.fixture
def secure():
    with Web(tls=True) as server:
        yield server


def test_the_certificate_is_the_one_of_the_requested_name(secure, make_agent):
    with DNSServer() as dns:
        dns.set("_https._tcp.svc.example", "SRV", [(0, 0, secure.port, "node7.svc.example")])
        dns.set("node7.svc.example", "A", ["127.0.0.1"])
        servers = [f"127.0.0.1:{dns.port}"]
        agent = make_agent(HttpsAgent, resolvers=servers, tls=Tls(ca_certs=str(CERTIFICATE)))
        assert agent.request("GET", "https://svc.example/").data == b"hello"
        assert set(secure.sni) == {"svc.example"}


def test_connections_that_wait_to_be_used_are_not_taken_for_dropped(secure, make_agent):
    """A server that speaks TLS 1.3 sends tickets as soon as it has shaken hands."""
    agent = make_agent(HttpsAgent, spares=2, maximum=2, tls=Tls(verify=False))
    pool = agent.create_pool("127.0.0.1", secure.port)
    wait_until(lambda: pool.get_stats()["idle_connections"] == 2)
    for slot in pool.machine.slots.all():
        assert slot.connection.sock.version() == "TLSv1.3"
        assert select.select([slot.connection.sock], [], [], LONG)[0]
    for _ in range(4):
        assert agent.request("GET", f"https://127.0.0.1:{secure.port}/").data == b"hello"
    assert len(secure.sni) == 2


def test_another_name_is_not_trusted(secure, make_agent):
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": secure.port}])
    resolver.start()
    agent = make_agent(HttpsAgent, tls=Tls(ca_certs=str(CERTIFICATE)))
    agent.create_pool("other.example", resolver=resolver)
    with pytest.raises(PoolFailedError) as caught:
        agent.request("GET", "https://other.example/")
    assert "other.example" in str(caught.value.__cause__)
    resolver.stop()


def test_an_unknown_issuer_is_not_trusted(secure, make_agent):
    agent = make_agent(HttpsAgent)
    with pytest.raises(PoolFailedError) as caught:
        agent.request("GET", f"https://127.0.0.1:{secure.port}/")
    assert "CERTIFICATE_VERIFY_FAILED" in str(caught.value.__cause__)


def test_tls_settings_tell_pools_apart(secure, make_agent):
    agent = make_agent(HttpsAgent)
    url = f"https://127.0.0.1:{secure.port}/"
    assert agent.request("GET", url, tls=Tls(verify=False)).data == b"hello"
    with pytest.raises(PoolFailedError):
        agent.request("GET", url)
