"""Every URL answers each role and method as the table of permissions says."""

from itertools import product

import pytest
from django.apps import apps
from django.test import Client

from allocation.models import Instance
from tests.console.every_url import METHODS, every_url
from tests.fixtures.users import BACKEND

URLS = sorted(every_url(), key=lambda url: url.name == "logout")  # which ends the others' session
ROLES = [None, "viewer", "operator", "admin"]
OUTCOMES = {401: "log-in", 403: "refused", 405: "no such method"}


def parts(number):
    """Split the URLs between few tests, since each logs in four people."""
    shares = [URLS[part::number] for part in range(number)]
    return pytest.mark.parametrize("urls", shares, ids=[f"{n} of {number}" for n in range(number)])


def outcome(response):
    assert response.status_code < 500, response.content[:500]
    leads_to_login = response.status_code == 302 and "/admin/login/" in response.headers["Location"]
    return "log-in" if leads_to_login else OUTCOMES.get(response.status_code, "answered")


def ask(client, method, url):
    return client.generic(method, url.path, content_type="application/x-www-form-urlencoded")


def answered(client, method, url):
    """Return how a request was answered, and check its security headers."""
    response = ask(client, method, url)
    assert not missing(response.headers), (url.path, missing(response.headers))
    return outcome(response)


def missing(headers):
    policy = headers.get("Content-Security-Policy", "unsafe")
    promises = {
        "nothing by default": "default-src 'none'" in policy,
        "no frames": "frame-ancestors 'none'" in policy and headers["X-Frame-Options"] == "DENY",
        "nothing unsafe": "unsafe" not in policy,
        "no sniffing": headers.get("X-Content-Type-Options") == "nosniff",
        "no referrer": headers.get("Referrer-Policy") == "same-origin",
        "not kept": "no-store" in headers.get("Cache-Control", ""),
        "a request id": headers.get("X-Request-Id"),
    }
    return [name for name, kept in promises.items() if not kept]


def test_every_url_has_a_rule():
    assert [url.path for url in URLS if url.kind == "unknown"] == []


def edges(url):
    """Return strangers, and per method the lowest role that may and the highest that may not."""
    yield from ((None, method) for method in METHODS)
    yield from (("admin", method) for method in undefined(url)[:1])
    for method in url.actions:
        words = {role: url.expected(role, method) for role in reversed(ROLES[1:])}
        lowest = {word: role for role, word in words.items()}
        highest = {word: role for role, word in reversed(words.items())}
        yield from (((lowest if word == "answered" else highest)[word], method) for word in lowest)


def undefined(url):
    return [method for method in METHODS if method not in url.actions]


def wrong(urls, cells, clients):
    return [
        (str(url), role, method, found)
        for url in urls
        for role, method in cells(url)
        if (found := answered(clients[role], method, url)) != url.expected(role, method)
    ]


@pytest.mark.only_on("sqlite")  # every page is opened on both below
@parts(12)
def test_the_table_decides(urls, client_as, db):
    assert wrong(urls, edges, {role: client_as(role) for role in ROLES}) == []


@pytest.mark.soak
@parts(24)
def test_the_table_decides_for_every_role(urls, client_as, db):
    def all_cells(url):
        return product(ROLES, METHODS)

    assert wrong(urls, all_cells, {role: client_as(role) for role in ROLES}) == []


@pytest.mark.only_on("sqlite")  # it is refused before the database is asked
@parts(4)
def test_no_change_without_a_csrf_token(urls, client_as, db):
    client = client_as("admin", enforce_csrf_checks=True)
    cells = [(url, method) for url in urls for method in changes(url)]
    found = {(str(url), method): ask(client, method, url).status_code for url, method in cells}
    allowed = {str(url): {403} if url.kind != "rest" else {403, 405} for url in urls}
    assert {cell: code for cell, code in found.items() if code not in allowed[cell[0]]} == {}


def changes(url):
    """Return the methods of a URL that change something, else a POST."""
    return [method for method in METHODS[1:] if method in url.actions] or ["POST"]


@parts(4)
def test_every_page_opens_on_both_databases_and_changes_no_row(urls, client_as, db):
    client = client_as("admin")
    before = all_rows()
    found = {str(url): answered(client, "GET", url) for url in urls}
    assert found == {str(url): url.expected("admin", "GET") for url in urls}
    assert all_rows() == before


def all_rows():
    tables = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    return {model._meta.label: sorted(map(repr, model.objects.values_list())) for model in tables}


def test_a_user_without_a_role_is_told_so(client_as, db):
    client = client_as("nobody")
    for path in ("/", "/admin/", "/system/tokens/"):
        response = client.get(path)
        assert response.status_code == 403
        assert "have no role yet" in response.text
        assert "Log out" in response.text


def test_a_user_without_a_role_can_log_out(client_as, db):
    client = client_as("nobody")
    assert client.post("/admin/logout/").headers["Location"] == "/admin/login/"
    assert client.get("/").headers["Location"] == "/admin/login/?next=/"


def test_pages_of_libraries_are_not_registered(db):
    from django.contrib import admin

    from atributo_site.web.raw_lists import RawList

    assert admin.site._registry
    assert all(isinstance(found, RawList) for found in admin.site._registry.values())


def test_a_nul_in_the_address_is_a_bad_request(client_as, db):
    client = client_as("admin", raise_request_exception=False)
    for path in ("/events/?kind=%00", "/search/?q=%00", "/admin/allocation/event/?q=%00"):
        assert client.get(path).status_code == 400


def test_the_anonymous_client_meets_the_log_in(db):
    assert Client().get("/events/?kind=x").headers["Location"] == (
        "/admin/login/?next=/events/%3Fkind%3Dx"
    )


def test_a_form_that_came_too_late_leads_back_to_its_page_and_says_so(user_as):
    client, page = Client(), "http://testserver/instances/?state=available"
    late = client.post("/instances/", {"id": "web-1"}, headers={"Referer": page})
    assert late.headers["Location"] == "/admin/login/?next=/instances/%3Fstate%3Davailable"
    client.force_login(user_as("viewer"), backend=BACKEND)
    assert "nothing was changed. Please try again" in client.get("/instances/").text
    assert not Instance.objects.exists()


@pytest.mark.parametrize("page", ["", "https://evil.example/x", "//evil.example", "nonsense"])
def test_a_form_from_nowhere_leads_to_the_overview(page, db):
    late = Client().post("/instances/", {"id": "web-1"}, headers={"Referer": page})
    assert late.headers["Location"] == "/admin/login/?next=/"
