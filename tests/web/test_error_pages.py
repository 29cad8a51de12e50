"""Error pages look like the others and do not ask a database that is away."""

import pytest
from django.db import OperationalError, connection
from django.test import Client, RequestFactory
from django.urls import path

from atributo_site.site_urls import *  # noqa: F403
from atributo_site.site_urls import urlpatterns as of_the_site
from atributo_site.web import error_pages


def broken(request):
    raise RuntimeError("on purpose")


def busy(request):
    raise OperationalError("database is locked")


urlpatterns = [*of_the_site, path("broken", broken), path("busy", busy)]


@pytest.fixture
def breaking_site(settings):
    settings.ROOT_URLCONF = "tests.web.test_error_pages"
    return Client(raise_request_exception=False)


@pytest.mark.parametrize("status", sorted(error_pages.SENTENCES))
def test_every_failure_has_a_page_without_the_database(status):
    request = RequestFactory().get("/somewhere", headers={"Cookie": "theme=dark"})
    page = error_pages.failure(request, status)
    assert page.status_code == status
    assert error_pages.SENTENCES[status][1] in page.text
    assert 'data-theme="dark"' in page.text


@pytest.mark.parametrize(("path", "status"), [("/nowhere/", 404), ("/broken", 500)])
def test_a_failure_keeps_the_navigation_for_whoever_is_logged_in(
    path, status, client_as, breaking_site
):
    page = client_as("viewer", raise_request_exception=False).get(path)
    assert page.status_code == status and f'failure-status">{status}<' in page.text
    assert 'aria-label="Screens"' in page.text and 'href="/queues/"' in page.text
    assert 'aria-label="Screens"' not in breaking_site.get(path).text


def test_a_forbidden_page_keeps_the_navigation(client_as, db):
    page = client_as("viewer").post("/queues/", {"name": "mail", "max_workers": 1})
    assert page.status_code == 403 and 'href="/queues/"' in page.text


def test_a_failure_names_the_request_for_the_log(breaking_site, db):
    page = breaking_site.get("/broken", headers={"X-Request-Id": "known-id-1"})
    assert page.status_code == 500
    assert "known-id-1" in page.text
    assert "on purpose" not in page.text


def test_a_busy_database_is_503_and_is_not_asked_again(
    breaking_site, db, django_assert_num_queries
):
    with django_assert_num_queries(0):
        page = breaking_site.get("/busy")
    assert page.status_code == 503
    assert page.headers["Retry-After"] == "1"


@pytest.mark.parametrize("path", ["/", "/admin/login/", "/api/v1/me", "/metrics"])
def test_a_database_that_is_away_is_503_for_whoever_is_logged_in(client_as, monkeypatch, path):
    client = client_as("viewer", raise_request_exception=False)

    def away(*args, **kwargs):
        raise OperationalError("the database is away")

    with monkeypatch.context() as patched:
        patched.setattr(connection, "cursor", away)
        page = client.get(path)
    assert (page.status_code, page.headers["Retry-After"]) == (503, "1")
    assert "busy" in page.text


def test_a_detail_is_escaped():
    page = error_pages.failure(RequestFactory().get("/"), 404, "<b>no</b>")
    assert "&lt;b&gt;no" in page.text


def test_programs_get_a_problem_document(client, db):
    answer = client.get("/api/v1/nothing")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_body_that_is_too_large_is_413(client, settings, db):
    page = client.post(
        "/theme", b"x" * (settings.ATRIBUTO.body_bytes + 1), content_type="text/plain"
    )
    assert page.status_code == 413
    assert "larger than this site accepts" in page.text
