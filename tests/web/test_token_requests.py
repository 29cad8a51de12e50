"""A request with a token takes the short way, and its answer is that of the long way."""

import sys
from types import ModuleType

import pytest
from django.conf import settings
from django.test import Client
from django.urls import include, path, re_path, resolve

from atributo_site.web import token_requests
from tests.rest.rest_urls import readable

CHANGING = {"X-Request-Id", "Content-Length"}


@pytest.fixture
def long_way(monkeypatch):
    """long_way(call) → its answer when nothing takes the short way."""

    def answer(call):
        with monkeypatch.context() as patch:
            patch.setattr(token_requests, "_endpoint", lambda request: None)
            return call()

    return answer


def told(answer):
    headers = {name: text for name, text in answer.items() if name not in CHANGING}
    vary = {word.strip() for word in headers.pop("Vary", "").split(",")} - {""}
    return answer.status_code, headers, vary, "Content-Length" in answer


ASKED = {
    "a wrong address": lambda client: client.get("/api/v1/nothing"),
    "a wrong method": lambda client: client.delete("/api/v1/me"),
    "the methods": lambda client: client.options("/api/v1/me"),
    "the head": lambda client: client.head("/api/v1/me"),
    "a body": lambda client: client.post("/api/v1/queues", {"name": "a"}, "application/json"),
    "a wrong body": lambda client: client.post("/api/v1/queues", b"{", "application/json"),
    "a form": lambda client: client.post("/api/v1/queues", {"name": "a"}),
    "a wrong host": lambda client: client.get("/api/v1/me", headers={"Host": "evil.example"}),
    "a wrong length": lambda client: client.get("/api/v1/me", CONTENT_LENGTH="x"),
    "a large body": lambda client: client.get("/api/v1/me", CONTENT_LENGTH="99999999999"),
    "https": lambda client: client.get("/api/v1/me", secure=True),
    "the page of the docs": lambda client: client.get("/api/v1/docs"),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("secure", [False, True])
def test_both_ways_answer_alike(rest_as, long_way, settings, ask, secure):
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = secure, 60 * secure
    client = rest_as("viewer")
    assert told(ask(client)) == told(long_way(lambda: ask(client)))


@pytest.mark.parametrize("path", readable())
def test_so_does_every_list(rest_as, long_way, path):
    client = rest_as("admin")
    assert told(client.get(path)) == told(long_way(lambda: client.get(path)))


@pytest.mark.parametrize("token", ["wrong", "Bearer"])
def test_a_wrong_token_is_refused_alike(db, long_way, token):
    client = Client(headers={"Authorization": f"Bearer {token}"})
    answer = client.get("/api/v1/me")
    assert answer.status_code == 401
    assert told(answer) == told(long_way(lambda: client.get("/api/v1/me")))


def test_the_short_way_is_taken_for_tokens_alone(rf):
    bearer = {"Authorization": "Bearer x"}
    ask = lambda path="/api/v1/me", **more: rf.get(path, headers={**bearer, **more})  # noqa: E731
    assert token_requests._endpoint(ask()) is not None
    assert token_requests._endpoint(ask(Cookie="sessionid=a")) is None
    assert token_requests._endpoint(ask("/")) is None
    assert token_requests._endpoint(ask(Authorization="Basic x")) is None


def asked_views(urlconf, path):
    """What is found for an address, at first and from then on, and by Django."""
    find = token_requests._resolved.__wrapped__
    return [
        (each.func, each.args, each.kwargs, each.view_name, each.namespaces, each.route)
        for each in (find(urlconf, path), find(urlconf, path), resolve(path, urlconf))
    ]


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize(
    "path", ["me", "allocations/job-1", "incidents/7", "queues/a/jobs", "jobs/1/links", "queues"]
)
def test_an_address_leads_where_django_says(path):
    first, again, django = asked_views(settings.ROOT_URLCONF, f"/api/v1/{path}")
    assert first == again == django


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("text", ["me", "shop/api/v1/7", "shop/api/v1/all", "shop/api/v1/x-1"])
@pytest.mark.parametrize("earlier", [True, False])
def test_so_does_one_of_a_project_that_has_addresses_of_its_own(text, earlier, monkeypatch):
    mine = [
        path("shop/api/v1/all", lambda request: None, name="all"),
        path("shop/api/v1/<int:pk>", lambda request: None, name="one"),
        path("shop/api/v1/<str:key>", lambda request: None, {"more": 1}, name="other"),
    ]
    any_of = [re_path(r"^shop/api/v1/\d+$", lambda request: None, name="by a pattern")]
    project = ModuleType("a_project")
    project.urlpatterns = [
        *(any_of if earlier else []),
        path("", include((mine, "shop"), namespace="inner")),
        *any_of,
        path("<path:rest>", lambda request: None, name="rest"),
    ]
    monkeypatch.setitem(sys.modules, f"a_project_{earlier}", project)
    first, again, django = asked_views(f"a_project_{earlier}", f"/{text}")
    assert first == again == django


@pytest.mark.only_on("sqlite")
def test_an_address_with_an_id_is_looked_for_once(monkeypatch):
    asked, find = [], token_requests.resolve
    monkeypatch.setattr(
        token_requests, "resolve", lambda *given: [asked.append(given), find(*given)][1]
    )
    for number in range(5):
        token_requests._resolved(settings.ROOT_URLCONF, f"/api/v1/allocations/never-{number}")
    assert len(asked) <= 1
