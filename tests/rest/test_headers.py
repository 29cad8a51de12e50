"""Every answer below /api/ has certain headers, and never has others."""

import logging

import pytest
from django.test import Client

from atributo_site.models import TokenScope
from tests.rest.rest_urls import readable

GETS = readable()
# Without a parameter, or without a job or queue of that name.
WANTING = {
    "/api/v1/allocations/batch": 404,
    "/api/v1/allocations/plan": 404,
    "/api/v1/queues/pause": 404,
    "/api/v1/queues/resume": 404,
    "/api/v1/services/configuration": 400,
    "/api/v1/services/scripts": 400,
}


def is_private(answer):
    return (
        answer["X-Content-Type-Options"] == "nosniff"
        and answer["X-Frame-Options"] == "DENY"
        and answer["Cache-Control"] == "no-store"
        and "frame-ancestors 'none'" in answer["Content-Security-Policy"]
        and "unsafe" not in answer["Content-Security-Policy"]
        and answer["Referrer-Policy"] == "same-origin"
        and answer["X-Request-Id"]
    )


@pytest.mark.parametrize("path", GETS)
def test_answers_are_private_whoever_asks(client_as, path):
    answers = [Client().get(path), client_as("admin").get(path)]
    expected = [401, WANTING.get(path, 200)]
    assert [answer.status_code for answer in answers] == expected
    assert all(is_private(answer) for answer in answers)


def test_a_token_never_reaches_the_log(token_of, capfd, caplog):
    token = token_of("viewer")
    client = Client(headers={"Authorization": f"Bearer {token}"})
    client.get("/api/v1/me")
    Client(headers={"Authorization": f"Bearer {token}x"}).get("/api/v1/me")
    assert token not in "".join(capfd.readouterr()) + caplog.text


def test_the_log_line_of_a_request_says_who_asked_and_from_where(rest_as, caplog):
    caplog.set_level(logging.INFO, "atributo.requests")
    answer = rest_as("viewer").get("/api/v1/me", REMOTE_ADDR="192.0.2.7")
    scope = TokenScope.objects.get()
    (line,) = [record.msg for record in caplog.records if record.name == "atributo.requests"]
    assert line["request_id"] == answer["X-Request-Id"]
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/v1/me", 200)
    assert (line["user"], line["address"]) == (scope.token.user.username, "192.0.2.7")
    assert line["via"] == f"token {scope.pk}"


def test_cookies_and_origins_of_others_get_no_permission(rest_as):
    answer = rest_as("viewer").get("/api/v1/me", headers={"Origin": "https://elsewhere.example"})
    assert not [name for name in answer.headers if name.startswith("Access-Control")]
