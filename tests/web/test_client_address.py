"""Limits by address apply only to addresses that surely are the client's."""

from dataclasses import replace

import pytest
from django.conf import settings as django_settings
from django.test import Client, RequestFactory

from atributo_site.rest.client_address import UNKNOWN, own_address
from tests.fixtures.users import log_in

PROXIES = ("10.0.0.7", "10.1.0.0/16", "127.0.0.1", "::1")
NAMES = [f"nobody-{number}" for number in range(django_settings.AXES_FAILURE_LIMIT + 1)]
UNNAMED = {"REMOTE_ADDR": "10.9.9.9"}
# (the address that the web server gives a request, X-Forwarded-For) → its client's own
OWN = {
    ("192.0.2.1", None): "192.0.2.1",
    ("2001:db8::1", None): "2001:db8::1",
    ("127.0.0.1", None): UNKNOWN,
    ("::1", None): UNKNOWN,
    ("::ffff:127.0.0.1", None): UNKNOWN,
    ("10.0.0.7", None): UNKNOWN,  # a named proxy without the header
    ("10.1.2.3", "10.0.0.7"): UNKNOWN,
    ("192.0.2.1", "192.0.2.1"): "192.0.2.1",  # from a named proxy
    ("192.0.2.1", "198.51.100.9, 192.0.2.1"): "192.0.2.1",  # with what the client claimed
    ("192.0.2.1", "192.0.2.1, 10.1.2.3, 10.0.0.7"): "192.0.2.1",  # through two of them
    ("192.0.2.1", "192.0.2.1:4711"): "192.0.2.1",
    ("2001:db8::1", "[2001:db8::1]:4711"): "2001:db8::1",
    ("10.9.9.9", "192.0.2.1"): UNKNOWN,  # an unnamed proxy, or somebody who pretends
    ("192.0.2.1", "192.0.2.1, 10.9.9.9"): UNKNOWN,
    ("192.0.2.1", ""): UNKNOWN,
    ("unknown", "unknown"): UNKNOWN,
    ("", None): UNKNOWN,
}


@pytest.fixture(autouse=True)
def proxies(settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, proxies=PROXIES)


@pytest.mark.parametrize(("address", "forwarded"), OWN)
def test_an_address_is_a_clients_own_only_where_that_is_known(address, forwarded):
    headers = {} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded}
    request = RequestFactory().get("/", REMOTE_ADDR=address, **headers)
    assert own_address(request) == OWN[address, forwarded]


@pytest.mark.parametrize("header", ["X-Forwarded-Proto", "Forwarded", "X-Real-IP", "Via"])
def test_every_sign_of_a_proxy_counts(header):
    request = RequestFactory().get("/", headers={header: "https"}, REMOTE_ADDR="10.9.9.9")
    assert own_address(request) == UNKNOWN


SHARED = {
    "unnamed proxy": {**UNNAMED, "HTTP_X_FORWARDED_FOR": "192.0.2.66"},
    "unnamed proxy that tells the scheme alone": {**UNNAMED, "HTTP_X_FORWARDED_PROTO": "https"},
    "proxy on this machine that tells no address": {"REMOTE_ADDR": "127.0.0.1"},
    "named proxy that tells no address": {"REMOTE_ADDR": "10.0.0.7"},
}


@pytest.mark.parametrize("where", SHARED.values(), ids=SHARED)
def test_a_stranger_who_shares_an_address_locks_nobody_out(person, where):
    answers = {log_in(Client(**where), "wrong", name).status_code for name in NAMES}
    assert answers == {200}
    assert log_in(Client(**where)).status_code == 302


@pytest.mark.parametrize("where", SHARED.values(), ids=SHARED)
def test_an_account_keeps_its_own_limit_there(person, where, settings):
    settings.AXES_FAILURE_LIMIT = 3
    answers = [log_in(Client(**where), "wrong").status_code for _ in range(4)]
    assert answers == [200, 200, 429, 429]


def test_a_stranger_whose_address_is_known_locks_only_themselves(person):
    stranger = {"REMOTE_ADDR": "192.0.2.66", "HTTP_X_FORWARDED_FOR": "192.0.2.66"}
    answers = [log_in(Client(**stranger), "wrong", name).status_code for name in NAMES]
    assert answers[-1] == 429
    assert log_in(Client(**stranger)).status_code == 429
    other = {"REMOTE_ADDR": "192.0.2.1", "HTTP_X_FORWARDED_FOR": "192.0.2.1"}
    assert log_in(Client(**other)).status_code == 302


def test_who_pretends_to_be_somebody_else_locks_nobody_out(person):
    """Without a named proxy the header changes only the count of the client that sends it."""
    liar = {"REMOTE_ADDR": "198.51.100.6", "HTTP_X_FORWARDED_FOR": "192.0.2.1"}
    for name in NAMES:
        log_in(Client(**liar), "wrong", name)
    victim = {"REMOTE_ADDR": "192.0.2.1"}
    assert log_in(Client(**victim)).status_code == 302


@pytest.mark.only_on("sqlite")  # the limits are kept in the cache
@pytest.mark.parametrize("where", SHARED.values(), ids=SHARED)
def test_wrong_tokens_of_a_stranger_use_up_nobodys_limit(where, db):
    def answer(token):
        headers = {"Authorization": f"Bearer {token}"}
        given = Client(**where).get("/api/v1/me", headers=headers)
        assert given.status_code == 401
        return given.get("Retry-After")

    assert {answer(f"guess-{number}") for number in range(30)} == {None}
    waits = [answer("one that is over") for _ in range(21)]
    assert [wait is None for wait in waits] == [True] * 20 + [False]
    assert answer("another that is over") is None
