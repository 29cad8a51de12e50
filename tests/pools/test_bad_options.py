"""A mistake in an option is named where it is made, in the words of the user."""

import pytest

from pools import (
    ConnectionPool,
    ConnectionSet,
    DNSResolver,
    HealthPolicy,
    HttpAgent,
    InvalidInput,
    OutlierPolicy,
    StalePolicy,
    StaticIpResolver,
)
from tests.pools.echo import Echo, pooling
from tests.pools.live import LONG

RECOVERY = {"default": {"timeout": 1000, "retries": 1, "delay": 10}}


def pool(**options):
    return ConnectionPool(**{"constructor": print, "domain": "svc.example", **options})


def connection_set(**options):
    return ConnectionSet(constructor=print, resolver=StaticIpResolver([]), **options)


def resolver(**options):
    return DNSResolver("svc.example", RECOVERY, **options)


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (pool, {"spare": 1}, "ConnectionPool has no option 'spare'; did you mean spares?"),
        (pool, {"recvery": RECOVERY}, "ConnectionPool has no option 'recvery'; did you mean rec"),
        (pool, {"constructor": None}, "ConnectionPool needs a constructor"),
        (pool, {"recovery": RECOVERY, "checker": 3}, "checker must be callable, not 3"),
        (pool, {"resolver_options": {"ttlfloor": 1}}, "DNSResolver has no option 'ttlfloor'; did"),
        (connection_set, {"targt": 2}, "ConnectionSet has no option 'targt'; did you mean target?"),
        (connection_set, {"target": 2, "spares": 1}, "ConnectionSet has no option 'spares'"),
        (HttpAgent, {"tiemout": 2}, "HttpAgent has no option 'tiemout'; did you mean timeout?"),
        (HttpAgent, {"domain": "a"}, "HttpAgent has no option 'domain'"),
        (HttpAgent, {"resolver_options": {"ttlfloor": 1}}, "DNSResolver has no option 'ttlfloor'"),
        (HttpAgent, {"resolvers": 5}, "resolvers must be a string or a list of strings, not 5"),
        (HttpAgent, {"initial_domains": "a.b"}, "initial_domains must be a list of names"),
        (HttpAgent, {"tls": True}, "tls must be a Tls, not True"),
        (HttpAgent, {"health": 5}, "health must be a policy, not 5"),
    ],
)
def test_a_wrong_name_or_type(make, options, words):
    with pytest.raises(TypeError) as caught:
        make(**options)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (connection_set, {}, "target must be a whole number, 0 or more: None"),
        (HttpAgent, {"maximum": 0}, "maximum must be a whole number, 1 or more: 0"),
        (HttpAgent, {"spares": "3"}, "spares must be a whole number, 0 or more: '3'"),
        (HttpAgent, {"max_lease": "x"}, "max_lease must be a positive number: 'x'"),
        (HttpAgent, {"stable_after": -1}, "stable_after must be a number of milliseconds, 0 or"),
        (HttpAgent, {"claim_timeout": -1}, "claim_timeout must be a number of milliseconds, 0"),
        (HttpAgent, {"ping_interval": 0}, "ping_interval must be a positive number: 0"),
        (HttpAgent, {"default_port": "80"}, "default_port must be a number from 1 to 65535: '80'"),
        (HealthPolicy, {"rise": 0}, "health.rise must be a whole number, 1 or more: 0"),
        (OutlierPolicy, {"max_share": -1}, "outliers.max_share must be a positive number: -1"),
        (StalePolicy, {"max_stale_ms": {"nxdoman": 1}}, "stale: 'nxdoman' is not a cause; the"),
        (resolver, {"log": 4}, "log must be a logger with debug(), info() and warning(), not int"),
        (resolver, {"ttl_floor": "x"}, "ttl_floor must be a positive number: 'x'"),
        (resolver, {"max_dns_concurrency": "x"}, "max_dns_concurrency must be a whole number, 1"),
    ],
)
def test_a_value_that_cannot_work(make, options, words):
    with pytest.raises(InvalidInput) as caught:
        make(**options)
    assert str(caught.value).startswith(words)


@pytest.fixture
def idle_pool():
    with Echo() as echo, pooling(echo.port) as pool:
        pool.wait_for_state("running", timeout=LONG)
        yield pool


@pytest.mark.parametrize("timeout", ["1", -1, float("nan"), True])
def test_the_limit_of_a_claim_is_looked_at_even_if_nobody_waits(idle_pool, timeout):
    with pytest.raises(InvalidInput, match="timeout must be a number of milliseconds, 0 or more"):
        idle_pool.claim(timeout=timeout)


def test_a_callback_can_be_called(idle_pool):
    with pytest.raises(TypeError, match="callback must be callable, not 3"):
        idle_pool.claim(callback=3)


@pytest.mark.parametrize("wrong", [-1, "2", None, 1.5])
@pytest.mark.parametrize("name", ["retries", "redirects"])
def test_retries_and_redirects_are_counted(name, wrong):
    with (
        HttpAgent() as agent,
        pytest.raises(InvalidInput, match=f"{name} must be a whole number, 0 or more"),
    ):
        agent.get("http://127.0.0.1/", **{name: wrong})
