"""The base of every REST view: permissions, methods and bodies."""

import json

import pytest
from django.test import Client

ME = "/api/v1/me"


def test_an_anonymous_request_is_401_with_a_challenge(db):
    answer = Client().get(ME)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Bearer realm="api"'
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "not_authenticated"


def test_a_user_without_a_role_is_403(client, django_user_model):
    client.force_login(django_user_model.objects.create(username="nobody"))
    assert client.get(ME).status_code == 403


def test_me_tells_user_role_and_scope(rest_as):
    me = rest_as("operator", "view").get(ME).json()
    assert (me["user"], me["role"], me["scope"]) == ("operator", "operator", "view")
    assert "user.administer" not in me["may"]


def test_a_session_has_no_scope(client, user_as):
    client.force_login(user_as("admin"))
    assert client.get(ME).json()["scope"] is None


@pytest.mark.parametrize("method", ["put", "patch", "delete", "post", "trace"])
def test_a_method_without_an_action_is_405(rest_as, method):
    answer = rest_as("admin").generic(method.upper(), ME)
    assert answer.status_code == 405
    assert answer["Allow"] == "GET, HEAD, OPTIONS"


def test_head_answers_like_get_without_a_body(rest_as):
    answer = rest_as("viewer").head(ME)
    assert (answer.status_code, answer.content) == (200, b"")


def test_options_needs_permission_and_lists_the_methods(rest_as):
    assert Client().options(ME).status_code == 401
    answer = rest_as("viewer").options(ME)
    assert (answer.status_code, answer["Allow"]) == (204, "GET, HEAD, OPTIONS")


def test_the_answer_to_a_person_who_wants_html_is_406(rest_as):
    assert rest_as("viewer").get(ME, headers={"Accept": "text/html"}).status_code == 406


def test_a_nul_in_the_address_is_400(rest_as):
    answer = rest_as("viewer").get("/api/v1/events", {"kind": "a\x00b"})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_type_is_415(rest_as, content_type):
    answer = rest_as("admin").generic("POST", "/api/v1/tokens", "{}", content_type)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_an_empty_body_names_what_is_missing(rest_as):
    answer = rest_as("admin").post("/api/v1/tokens", b"", content_type="application/json")
    assert answer.status_code == 400
    assert set(answer.json()["errors"]) == {"name", "level"}


def test_an_unknown_member_is_refused_by_name(rest_as):
    body = {"name": "a", "level": "view", "dayz": 1}
    answer = rest_as("admin").post("/api/v1/tokens", body, content_type="application/json")
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["dayz"]


def test_a_session_needs_its_csrf_token_to_change_something(user_as):
    client = Client(enforce_csrf_checks=True)
    client.force_login(user_as("admin"))
    answer = client.post("/api/v1/tokens", {}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")


def test_a_session_with_its_csrf_token_may_change_something(client_as):
    client = client_as("admin", enforce_csrf_checks=True)
    client.get("/api/v1/docs", {"script": ""})
    headers = {"X-CSRFToken": client.cookies["csrftoken"].value}
    body = {"name": "x", "level": "view"}
    answer = client.post("/api/v1/tokens", body, "application/json", headers=headers)
    assert answer.status_code == 201


def test_a_form_sent_by_a_session_is_415(client, user_as):
    client.force_login(user_as("admin"))
    answer = client.post("/api/v1/tokens", {"name": "x"})
    assert answer.status_code == 415


def test_an_unknown_address_is_a_problem_document(db):
    answer = Client().get("/api/v1/nothing")
    assert (answer.status_code, json.loads(answer.content)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("address", "wrong"),
    [
        ("instances?availble=true", "availble"),
        ("instances?available=maybe", "available"),
        ("transactions?open=perhaps", "open"),
        ("tokens?usr=ada", "usr"),
        ("locks?kind=shared&limit=5", "kind"),
    ],
)
def test_a_filter_that_a_list_does_not_have_is_refused_by_name(rest_as, address, wrong):
    answer = rest_as("admin").get(f"/api/v1/{address}")
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [wrong])


def test_filters_that_a_list_has_are_read(rest_as):
    for address in ("instances?available=TRUE&limit=1", "tokens?user=admin", "transactions?open=0"):
        assert rest_as("admin").get(f"/api/v1/{address}").status_code == 200
