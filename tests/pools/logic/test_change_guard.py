"""What must hold for any answer, and for any network."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools.logic.dns.address_policy import is_permitted, is_special, parse_permit
from pools.logic.dns.change_guard import is_answered, judge
from pools.logic.dns.lookup import Step
from pools.logic.errors import InvalidInput

KEYS = st.sets(st.sampled_from("abcdefgh"))
SHARES = st.floats(0.01, 1)


def is_plain(address):
    return address.version == 4 or address.ipv4_mapped is None


def step(result, rdtype="A"):
    return Step(0.0, "10.0.0.1", "svc.example", rdtype, 1, 1.0, result, 0.0)


@given(KEYS, KEYS, SHARES, KEYS, st.booleans())
def test_what_is_in_the_answer_is_never_removed(present, answer, share, doubted, answered):
    verdict = judge(present, answer, share, doubted, answered)
    assert verdict.added == answer - present
    assert verdict.removed | verdict.waits == present - answer
    assert not verdict.removed & verdict.waits


@given(KEYS, KEYS, SHARES)
def test_at_first_sight_less_than_the_share_is_removed(present, answer, share):
    verdict = judge(present, answer, share, frozenset(), True)
    assert not verdict.removed or len(verdict.removed) < share * len(present)


@given(KEYS, KEYS, SHARES)
def test_the_same_answer_twice_is_believed(present, answer, share):
    first = judge(present, answer, share, frozenset(), True)
    second = judge(present - first.removed | first.added, answer, share, first.waits, True)
    assert (second.added, second.waits) == (frozenset(), frozenset())
    assert first.removed | second.removed == present - answer


@given(KEYS, KEYS, SHARES)
def test_a_failed_look_up_confirms_nothing(present, answer, share):
    first = judge(present, answer, share, frozenset(), True)
    second = judge(present - first.removed, answer, share, first.waits, False)
    assert not second.removed & first.waits or len(second.removed) < share * len(present)


def test_half_of_the_backends_is_the_default_share():
    assert judge({"a", "b"}, {"a"}, 0.5, frozenset(), True).waits == {"b"}
    assert judge({"a", "b", "c"}, {"a", "b"}, 0.5, frozenset(), True).removed == {"c"}


@pytest.mark.parametrize(
    ("error", "results", "answered"),
    [
        (None, ["SERVFAIL"], True),
        ("gone", ["NXDOMAIN", "no records"], True),
        ("gone", ["SERVFAIL"], False),
        ("gone", ["SERVFAIL", "3 records"], True),
        ("gone", ["no answer within 5 ms"], False),
        ("gone", [], False),
    ],
)
def test_a_look_up_is_answered_when_every_question_is(error, results, answered):
    assert is_answered(error, [step(result) for result in results]) == answered


def test_one_question_without_an_answer_is_enough_to_doubt():
    assert not is_answered("gone", [step("NXDOMAIN", "SRV"), step("SERVFAIL", "A")])


@given(st.ip_addresses().filter(is_plain), st.integers(1, 65535))
def test_an_address_is_inside_its_own_permit(address, port):
    text = f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"
    assert is_permitted(str(address), port, [parse_permit(text, None)])
    assert not is_permitted(str(address), port % 65535 + 1, [parse_permit(text, None)])


@given(st.ip_addresses(v=4))
def test_an_address_stays_itself_when_it_is_written_as_ipv6(address):
    assert is_special(f"::ffff:{address}") == is_special(str(address))


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "169.254.169.254", "fe80::1%eth0", "0.0.0.0", "::", "224.0.0.1",
     "::ffff:127.0.0.1", "fd00:ec2::254", "100.100.100.200", "255.255.255.255", "ff02::1",
     "0.1.2.3", "2002:7f00:1::", "2002:a9fe:a9fe::1"],
)  # fmt: skip
def test_addresses_that_belong_to_no_service(address):
    assert is_special(address)


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "2001:4860::8"]
)
def test_addresses_that_services_have(address):
    assert not is_special(address)


@given(st.text(max_size=30))
def test_any_text_is_a_permit_or_is_refused(text):
    try:
        permit = parse_permit(text, 53)
    except InvalidInput:
        return
    assert ipaddress.ip_network(permit.network) and permit.port != 0
