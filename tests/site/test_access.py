"""Every URL × role × method answers as the table says; a URL without an entry fails."""

import pytest
from django.apps import apps
from django.test import Client

from tests.site.every_url import METHODS, every_url

URLS = every_url()
ROLES = [None, "viewer", "operator", "admin"]
OUTCOMES = {401: "log-in", 403: "refused", 405: "no such method"}

every = pytest.mark.parametrize("url", URLS, ids=str)


def outcome(response):
    assert response.status_code < 500, response.content[:500]
    leads_to_login = response.status_code == 302 and "/admin/login/" in response.headers["Location"]
    return "log-in" if leads_to_login else OUTCOMES.get(response.status_code, "answered")


def ask(client, method, url):
    return client.generic(method, url.path, content_type="application/x-www-form-urlencoded")


def test_every_url_has_a_rule():
    assert [url.path for url in URLS if url.kind == "unknown"] == []


@pytest.mark.only_on("sqlite")  # every page is opened on both below
@every
def test_the_table_decides(url, client_as, db):
    clients = {role: client_as(role) for role in ROLES}
    cells = [(role, method) for role in ROLES for method in METHODS]
    found = {cell: outcome(ask(clients[cell[0]], cell[1], url)) for cell in cells}
    assert found == {cell: url.expected(*cell) for cell in cells}


@pytest.mark.only_on("sqlite")  # it is refused before the database is asked
@every
def test_no_change_without_a_csrf_token(url, client_as, db):
    client = client_as("admin", enforce_csrf_checks=True)
    answers = {method: ask(client, method, url).status_code for method in METHODS[1:]}
    allowed = {403} if url.kind != "rest" else {403, 405}
    assert {method: status for method, status in answers.items() if status not in allowed} == {}


@every
@pytest.mark.parametrize("role", [None, "admin"])
def test_every_answer_has_the_headers(url, role, client_as, db):
    response = ask(client_as(role), "GET", url)
    headers = response.headers
    assert response.status_code < 500, response.content[:500]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "no-store" in headers["Cache-Control"]
    assert headers["X-Request-Id"]


def test_no_get_changes_a_row(client_as, db):
    client = client_as("admin")
    before = all_rows()
    for url in URLS:
        ask(client, "GET", url)
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

    from atributo_site.raw_lists import RawList

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
