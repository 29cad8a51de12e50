"""The scriptable DNS server answers truly, and lies exactly as told."""

import contextlib
import socket
import struct

import dns.exception
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import pytest

from tests.servers.dns.faults import MANY, MODES, POISON, TTL_MAX
from tests.servers.dns.server import DNSServer

NAME = "a.svc.example"
LONG_SECONDS = 60  # a machine that stands still is no finding


@pytest.fixture
def server():
    with DNSServer() as server:
        server.set(NAME, "A", ["10.0.0.1", "10.0.0.2"], ttl=60)
        server.set_soa("example", 300, 30)
        yield server


def ask(server, name=NAME, rdtype="A", timeout=LONG_SECONDS, transport=dns.query.udp, **options):
    query = dns.message.make_query(name, rdtype)
    return transport(query, server.address, timeout, port=server.port, **options)


def addresses(response):
    return [record.address for rrset in response.answer for record in rrset]


@pytest.mark.parametrize("transport", [dns.query.udp, dns.query.tcp])
def test_a_set_name_is_answered(server, transport):
    response = ask(server, transport=transport)
    assert sorted(addresses(response)) == ["10.0.0.1", "10.0.0.2"]
    assert response.answer[0].ttl == 60
    assert response.flags & dns.flags.AA


def test_names_are_compared_without_letter_case_and_returned_as_asked(server):
    response = ask(server, "A.sVc.Example")
    assert response.answer[0].name.to_text() == "A.sVc.Example."
    assert server.queries == [(NAME, "A", "udp")]


def test_srv_brings_its_additional_records(server):
    records = [(10, 5, 8080, "a.svc.example"), (20, 5, 8081, "b.svc.example")]
    extra = [("a.svc.example", "A", "10.0.0.1", 30), ("a.svc.example", "AAAA", "fd00::1", 20)]
    server.set("_http._tcp.svc.example", "SRV", records, ttl=30, additional=extra)
    response = ask(server, "_http._tcp.svc.example", "SRV")
    found = {(r.priority, r.weight, r.port, r.target.to_text(True)) for r in response.answer[0]}
    assert found == set(records)
    assert [rrset.ttl for rrset in response.additional] == [30, 20]


def test_an_unknown_name_does_not_exist(server):
    response = ask(server, "nobody.svc.example")
    assert response.rcode() == dns.rcode.NXDOMAIN
    assert response.authority[0].ttl == 300
    assert response.authority[0][0].minimum == 30


@pytest.mark.parametrize("name, rdtype", [(NAME, "AAAA"), ("svc.example", "A")])
def test_a_known_name_of_another_type_has_no_data(server, name, rdtype):
    response = ask(server, name, rdtype)
    assert response.rcode() == dns.rcode.NOERROR
    assert (response.answer, len(response.authority)) == ([], 1)


def test_without_soa_the_authority_is_empty():
    with DNSServer() as server:
        response = ask(server)
    assert (response.rcode(), response.authority) == (dns.rcode.NXDOMAIN, [])


def test_a_removed_record_is_gone(server):
    server.remove(NAME, "A")
    assert ask(server).rcode() == dns.rcode.NXDOMAIN


def test_an_alias_is_followed(server):
    server.set("www.example", "CNAME", [NAME])
    response = ask(server, "www.example")
    assert [rrset.rdtype for rrset in response.answer] == [dns.rdatatype.CNAME, dns.rdatatype.A]


def test_ipv6_loopback():
    with DNSServer("::1") as server:
        server.set(NAME, "AAAA", ["fd00::1"])
        assert addresses(ask(server, rdtype="AAAA")) == ["fd00::1"]


@pytest.mark.parametrize("mode", ["servfail", "refused", "notimp", "formerr", "nxdomain"])
def test_error_codes(server, mode):
    server.fault(NAME, "A", mode)
    assert dns.rcode.to_text(ask(server).rcode()) == mode.upper()


def test_a_fault_lasts_for_its_times_and_the_next_one_follows(server):
    server.fault(NAME, "A", "servfail", times=2)
    server.fault(NAME, "*", "refused", times=1)
    codes = [dns.rcode.to_text(ask(server).rcode()) for _ in range(4)]
    assert codes == ["SERVFAIL", "SERVFAIL", "REFUSED", "NOERROR"]


def test_a_fault_meets_only_its_question(server):
    server.fault("other.example", "A", "servfail")
    server.fault(NAME, "SRV", "servfail")
    assert ask(server).rcode() == dns.rcode.NOERROR


def test_faults_for_everything_are_cleared(server):
    server.fault("*", "*", "servfail")
    assert ask(server, "any.example").rcode() == dns.rcode.SERVFAIL
    server.clear_faults()
    assert ask(server).rcode() == dns.rcode.NOERROR


def test_a_second_lasting_fault_replaces_the_first(server):
    server.fault(NAME, "A", "servfail")
    server.fault(NAME, "A", "refused")
    assert ask(server).rcode() == dns.rcode.REFUSED


def test_an_unknown_fault_is_named(server):
    with pytest.raises(ValueError, match="no fault explode; there are servfail"):
        server.fault(NAME, "A", "explode")


def test_nodata_hides_the_records(server):
    server.fault(NAME, "A", "nodata")
    response = ask(server)
    assert (response.rcode(), response.answer) == (dns.rcode.NOERROR, [])
    assert response.authority


@contextlib.contextmanager
def asked(server, transport):
    """A client whose question the server has taken, however long that took."""
    wire = dns.message.make_query(NAME, "A").to_wire()
    kind, prefix = {
        "udp": (socket.SOCK_DGRAM, b""),
        "tcp": (socket.SOCK_STREAM, struct.pack("!H", len(wire))),
    }[transport]
    with socket.socket(type=kind) as client:
        client.connect((server.address, server.port))
        client.sendall(prefix + wire)
        server.wait_for_queries(1)
        yield client


@pytest.mark.parametrize("mode", ["drop", "slow"])
@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_no_answer_comes(server, mode, transport):
    server.fault(NAME, "A", mode)
    with asked(server, transport) as client:
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(1)
    assert len(server.queries) == 1


def test_truncated_answers_are_whole_over_tcp(server):
    server.fault(NAME, "A", "truncate")
    query = dns.message.make_query(NAME, "A")
    options = {"timeout": LONG_SECONDS, "port": server.port}
    response, used_tcp = dns.query.udp_with_fallback(query, server.address, **options)
    assert used_tcp and len(addresses(response)) == 2
    assert [transport for *_, transport in server.queries] == ["udp", "tcp"]


def test_truncated_answers_without_tcp(server):
    server.fault(NAME, "A", "truncate_no_tcp")
    assert ask(server).flags & dns.flags.TC
    with pytest.raises((ConnectionResetError, EOFError)):
        ask(server, transport=dns.query.tcp)


def test_tcp_can_be_refused_altogether():
    with DNSServer(tcp=False) as server, pytest.raises(ConnectionRefusedError):
        ask(server, transport=dns.query.tcp)


@pytest.mark.parametrize("mode", ["garbage", "empty_reply", "short_reply"])
def test_unreadable_replies(server, mode):
    server.fault(NAME, "A", mode)
    with pytest.raises(dns.exception.DNSException) as caught:
        ask(server)
    assert not isinstance(caught.value, dns.exception.Timeout)


def test_a_short_reply_over_tcp_ends_early(server):
    server.fault(NAME, "A", "short_reply")
    with pytest.raises(EOFError):
        ask(server, transport=dns.query.tcp)


@pytest.mark.parametrize("mode", ["wrong_id", "wrong_name"])
def test_replies_to_another_question(server, mode):
    server.fault(NAME, "A", mode)
    with pytest.raises(dns.query.BadResponse):
        ask(server)


def test_a_reply_from_another_port(server):
    server.fault(NAME, "A", "wrong_source")
    with pytest.raises(dns.query.UnexpectedSource):
        ask(server)


def test_a_slow_reply_comes_when_released(server):
    server.fault(NAME, "A", "slow")
    query = dns.message.make_query(NAME, "A")
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.settimeout(LONG_SECONDS)
        client.sendto(query.to_wire(), (server.address, server.port))
        server.wait_for_queries(1)
        server.set(NAME, "A", ["10.0.0.9"])
        server.release()
        response = dns.message.from_wire(client.recv(65535))
    assert response.id == query.id
    assert sorted(addresses(response)) == ["10.0.0.1", "10.0.0.2"]


def test_a_chain_of_aliases_ends_in_the_answer(server):
    server.fault(NAME, "A", "cname")
    kinds = [dns.rdatatype.to_text(rrset.rdtype) for rrset in ask(server).answer]
    assert kinds == ["CNAME", "CNAME", "A"]


def test_a_loop_of_aliases_returns_to_the_name(server):
    server.fault(NAME, "A", "cname_loop")
    response = ask(server)
    assert response.answer[-1][0].target == response.answer[0].name


def test_a_chain_of_aliases_that_ends_in_nothing(server):
    server.fault(NAME, "A", "cname_nodata")
    response = ask(server)
    assert {rrset.rdtype for rrset in response.answer} == {dns.rdatatype.CNAME}
    assert response.rcode() == dns.rcode.NOERROR


def test_duplicate_records_and_replies(server):
    server.fault(NAME, "A", "duplicate")
    query = dns.message.make_query(NAME, "A")
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.settimeout(LONG_SECONDS)
        client.sendto(query.to_wire(), (server.address, server.port))
        first, second = client.recv(65535), client.recv(65535)
    assert first == second
    assert int.from_bytes(first[6:8], "big") == 4  # the header's count of answers


def test_poisoned_additional_records(server):
    server.fault(NAME, "A", "poison_additional")
    response = ask(server)
    assert response.additional[0].name.to_text(True) == POISON[0]
    assert len(addresses(response)) == 2


@pytest.mark.parametrize("rdtype", ["A", "AAAA", "SRV"])
def test_many_records_need_tcp(server, rdtype):
    server.fault(NAME, rdtype, "many")
    assert ask(server, rdtype=rdtype).flags & dns.flags.TC
    assert len(ask(server, rdtype=rdtype, transport=dns.query.tcp).answer[0]) == MANY


@pytest.mark.parametrize("mode, ttl", [("ttl_zero", 0), ("ttl_max", TTL_MAX)])
def test_extreme_ttls(server, mode, ttl):
    server.fault(NAME, "A", mode)
    assert ask(server).answer[0].ttl == ttl


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_the_server_outlives_every_fault(server, mode, transport):
    server.fault("*", "*", mode, times=1)
    with asked(server, transport):
        server.release()
        assert len(addresses(ask(server))) == 2


def test_nonsense_is_ignored(server):
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(b"nonsense", (server.address, server.port))
    assert len(addresses(ask(server))) == 2


def test_waiting_for_queries_that_do_not_come_fails(server):
    with pytest.raises(AssertionError, match="0 of 1 queries"):
        server.wait_for_queries(1, timeout=0.05)


def test_the_port_is_free_again_after_the_end():
    with DNSServer() as server:
        ask(server, transport=dns.query.tcp)
    with DNSServer(port=server.port) as second:
        assert ask(second).rcode() == dns.rcode.NXDOMAIN
