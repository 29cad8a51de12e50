"""HOST[:PORT]: the recommended column of the table of inputs (R34)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools.logic.dns.names import HostPort, parse_host_port
from pools.logic.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "host", "port", "is_ip"),
    [
        ("127.0.0.1", "127.0.0.1", None, True),
        ("127.0.0.1:1234", "127.0.0.1", 1234, True),
        ("h", "h", None, False),
        ("h:80", "h", 80, False),
        ("h.", "h", None, False),
        ("::1", "::1", None, True),
        ("::", "::", None, True),
        ("2001:db8::1", "2001:db8::1", None, True),
        ("2001:db8::abcd", "2001:db8::abcd", None, True),
        ("[::1]:80", "::1", 80, True),
        ("[::1]", "::1", None, True),
        ("::ffff:1.2.3.4", "::ffff:1.2.3.4", None, True),
        ("münchen.example", "xn--mnchen-3ya.example", None, False),
        ("_http._tcp.h:1", "_http._tcp.h", 1, False),
    ],
)
def test_r34_accepts(text, host, port, is_ip):
    assert parse_host_port(text) == HostPort(host, port, is_ip)


@pytest.mark.parametrize("text", ["::1:80", "2001:db8::1:80"])
def test_a_whole_literal_wins_and_is_marked_as_ambiguous(text):
    assert parse_host_port(text) == HostPort(text, None, True, is_ambiguous=True)


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1:65536", "127.0.0.1:-3", "127.0.0.1:ab1", "127.0.0.1:0", "h:", "http://h",
        "h:80abc", "h: 80", "h:+80", "h:80.5", "h:1e3", "h:0x50", "h:٨٠", "", ":80",
        "256.1.1.1", "1.2.3", "foo bar", "a" * 300, "a" * 64, "a..b", ".", "-a", "a-", "foo:80:90",
        "[::1", "[::1]x", "[1.2.3.4]:80", "[foo]:80", "h\n", "\udcff.example", "[::1]:0",
    ],
)  # fmt: skip
def test_r34_refuses(text):
    with pytest.raises(InvalidInput):
        parse_host_port(text)


@pytest.mark.parametrize("value", [None, 80, b"h", ["h"]])
def test_a_wrong_type_is_the_programmers_mistake(value):
    with pytest.raises(TypeError):
        parse_host_port(value)


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text):
    try:
        parsed = parse_host_port(text)
    except InvalidInput:
        return
    assert parsed.host
    assert parsed.port is None or 1 <= parsed.port <= 65535
