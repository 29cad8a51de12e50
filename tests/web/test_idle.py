"""A browser that was idle for too long has to log in again."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import RequestFactory
from rest_framework.exceptions import NotAuthenticated

from atributo_site.serving.stream_access import listening_user

PAGE = "/instances/"


@pytest.fixture
def browser_at(client_as):
    """Return a function that asks for a page after so many minutes."""
    begun = datetime.now(UTC)
    client = client_as("viewer")

    def ask(minutes, path=PAGE):
        with time_machine.travel(begun + timedelta(minutes=minutes)):
            return client.get(path)

    ask.client = client
    return ask


def test_who_is_heard_of_stays(browser_at):
    assert [browser_at(minutes).status_code for minutes in (0, 50, 100, 150)] == [200] * 4


def test_who_is_not_heard_of_has_to_log_in(browser_at):
    browser_at(0)
    answer = browser_at(61)
    assert (answer.status_code, answer.url) == (302, f"/admin/login/?next={PAGE}")
    assert not Session.objects.exists()


def test_leaving_the_cookie_out_gains_nothing(browser_at):
    browser_at(0), browser_at(50)
    del browser_at.client.cookies[settings.IDLE_COOKIE_NAME]
    assert browser_at(61).status_code == 302


def test_the_cookie_of_another_session_gains_nothing(browser_at, client_as):
    browser_at(0)
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=60)):
        other = client_as("operator")
        other.get(PAGE)
    browser_at.client.cookies[settings.IDLE_COOKIE_NAME] = other.cookies[settings.IDLE_COOKIE_NAME]
    assert browser_at(61).status_code == 302


def test_the_cookie_tells_nothing_and_is_not_for_scripts(browser_at):
    browser_at(0)
    cookie = browser_at.client.cookies[settings.IDLE_COOKIE_NAME]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"
    assert browser_at.client.session.session_key not in cookie.value


def test_a_cookie_is_not_written_with_every_answer(browser_at):
    browser_at(0)
    assert settings.IDLE_COOKIE_NAME not in browser_at(0.5).cookies
    assert settings.IDLE_COOKIE_NAME in browser_at(2).cookies


def test_a_stream_is_for_those_who_are_heard_of(transactional_db, client_as):
    client = client_as("viewer")
    request = RequestFactory().get("/api/v1/events/stream")
    request.COOKIES = {name: morsel.value for name, morsel in client.cookies.items()}
    assert listening_user(request) == int(client.session["_auth_user_id"])
    with (
        time_machine.travel(datetime.now(UTC) + timedelta(minutes=61)),
        pytest.raises(NotAuthenticated),
    ):
        listening_user(request)
