"""Failures as problem documents: a stable code, a status, no secret."""

import pytest

from atributo_site.core.events import SYSTEM, current_actor
from atributo_site.core.models import Event

pytestmark = pytest.mark.urls("tests.rest.rest_urls")

EXPECTED = {
    "ours": (409, "in_the_way"),
    "unavailable": (503, "error"),
    "validation": (400, "invalid"),
    "django_validation": (400, "invalid"),
    "django_permission": (403, "forbidden"),
    "too_big": (413, "too_large"),
    "suspicious": (400, "malformed"),
    "http404": (404, "not_found"),
    "not_found": (404, "not_found"),
    "busy": (503, "busy"),
    "lost": (503, "busy"),
    "in_doubt": (503, "in_doubt"),
    "gone": (503, "busy"),
    "redis": (503, "busy"),
    "data": (400, "out_of_range"),
    "overflow": (400, "out_of_range"),
    "integrity": (409, "conflict"),
    "unexpected": (500, "internal_error"),
}


def failed(client, name):
    return client.post("/api/v1/doing", {"fail": name}, content_type="application/json")


@pytest.mark.parametrize("name", EXPECTED)
def test_each_failure_has_its_status_and_code(rest_as, name):
    answer = failed(rest_as("viewer"), name)
    body = answer.json()
    assert (answer.status_code, body["code"]) == EXPECTED[name]
    assert answer["Content-Type"] == "application/problem+json"
    assert body["status"] == answer.status_code
    assert body["type"] == "about:blank"
    assert body["title"] and body["detail"]
    assert "secret" not in answer.content.decode()


def test_the_facts_of_our_errors_are_members(rest_as):
    body = failed(rest_as("viewer"), "ours").json()
    assert (body["owner"], body["detail"]) == ("a", "it is in the way")


@pytest.mark.parametrize("name", ["unavailable", "busy", "lost", "gone", "redis"])
def test_a_busy_site_says_when_to_come_back(rest_as, name):
    assert failed(rest_as("viewer"), name)["Retry-After"] == "1"


def test_what_may_have_been_done_is_not_to_be_sent_again_blindly(rest_as):
    answer = failed(rest_as("viewer"), "in_doubt")
    assert answer.json()["in_doubt"] is True
    assert "Retry-After" not in answer


def test_an_unexpected_failure_tells_only_the_request_id(rest_as):
    answer = failed(rest_as("viewer"), "unexpected")
    assert answer.json()["request_id"] == answer["X-Request-Id"]


def test_validation_errors_are_listed_by_member(rest_as):
    assert failed(rest_as("viewer"), "django_validation").json()["errors"] == {"name": ["wrong"]}
    assert "non_field_errors" in failed(rest_as("viewer"), "validation").json()["errors"]


def test_a_view_that_lists_no_action_is_refused_even_to_the_admin(rest_as):
    assert rest_as("admin").get("/api/v1/unlisted").status_code == 403


def test_an_id_may_hold_a_slash_that_the_front_door_marked(rest_as):
    assert rest_as("viewer").get("/api/v1/doing/a%1Fb").json()["name"] == "a/b"
    assert rest_as("viewer").get("/api/v1/doing/a%00b").status_code == 404


def test_what_one_request_records_is_not_its_successors(rest_as):
    rest_as("viewer").post("/api/v1/doing", {}, content_type="application/json")
    done = Event.objects.get(kind="thing.done")
    assert (done.actor, done.channel) == ("viewer", "rest")
    assert current_actor() == SYSTEM
