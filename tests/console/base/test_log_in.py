"""Log-in through the real form is throttled and recorded, and says so."""

import re

import pytest
from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, get_hasher
from django.test import Client

from atributo_site.core.models import Event
from tests.fixtures.users import PASSWORD, log_in


def kinds():
    return list(Event.objects.order_by("id").values_list("kind", "subject", "actor"))


def test_passwords_are_hashed_with_argon2():
    assert type(get_hasher()) is Argon2PasswordHasher


def test_a_viewer_who_is_no_staff_logs_in(person):
    client = Client()
    assert log_in(client, next="/events/").headers["Location"] == "/events/"
    assert client.get("/events/").status_code == 200
    assert kinds() == [("user.logged_in", "user:vera", "vera")]


def test_log_in_leads_to_no_other_site(person):
    assert log_in(Client(), next="https://example.net/").headers["Location"] == "/"


def test_a_wrong_password_is_recorded_and_explained(person):
    response = log_in(Client(), "wrong")
    assert response.status_code == 200
    assert "do not match" in response.text
    assert kinds() == [("user.login_failed", "user:vera", "vera")]


@pytest.mark.parametrize("tries", [0, 1, 2])
def test_the_form_leads_in_also_after_wrong_passwords(person, tries):
    client = Client()
    page = client.get("/admin/login/?next=/events/")
    for password in ["wrong"] * tries + [PASSWORD]:
        action = re.search(r'class="form" method="post" action="([^"]*)"', page.text)[1]
        onward = re.search(r'name="next" value="([^"]*)"', page.text)[1]
        page = client.post(action, {"username": "vera", "password": password, "next": onward})
    assert page.headers["Location"] == "/events/"


def test_an_inactive_user_does_not_get_in(person):
    person.is_active = False
    person.save()
    assert "do not match" in log_in(Client()).text


def test_too_many_wrong_passwords_lock_and_say_how_long(person, settings):
    settings.AXES_FAILURE_LIMIT = 3
    answers = [log_in(Client(), "wrong") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert "one hour" in answers[-1].text
    assert answers[-1].headers["Retry-After"] == "3600"
    assert log_in(Client()).status_code == 429


def test_those_who_are_locked_out_cannot_fill_the_events(person, settings):
    settings.AXES_FAILURE_LIMIT = 3
    for _ in range(6):
        log_in(Client(), "wrong")
    assert Event.objects.filter(kind="user.login_failed").count() == 3


def test_twenty_wrong_passwords_in_an_hour_are_enough():
    assert (settings.AXES_FAILURE_LIMIT, settings.AXES_COOLOFF_TIME) == (20, 1)


def test_a_new_password_ends_every_other_session_and_is_an_event(person):
    here, elsewhere = Client(), Client()
    log_in(here)
    log_in(elsewhere)
    new = "another horse battery staple"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post("/admin/password_change/", form).status_code == 302
    assert (here.get("/").status_code, elsewhere.get("/").status_code) == (200, 302)
    assert kinds()[-1] == ("user.password_changed", "user:vera", "vera")


def test_the_session_key_changes_at_log_in(person):
    client = Client()
    client.session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = planted = client.session.session_key
    log_in(client)
    assert client.cookies[settings.SESSION_COOKIE_NAME].value != planted


def test_a_stolen_session_dies_at_log_out(person):
    client, thief = Client(), Client()
    log_in(client)
    thief.cookies[settings.SESSION_COOKIE_NAME] = client.session.session_key
    client.post("/admin/logout/")
    assert thief.get("/").status_code == 302
    assert kinds()[-1] == ("user.logged_out", "user:vera", "vera")


def test_other_sessions_die_when_the_password_changes(person):
    client, other = Client(), Client()
    log_in(client)
    log_in(other)
    new = "a completely different phrase"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post("/admin/password_change/", form).status_code == 302
    assert client.get("/").status_code == 200
    assert other.get("/").status_code == 302
    assert kinds()[-1] == ("user.password_changed", "user:vera", "vera")


def test_no_password_is_ever_recorded(person):
    log_in(Client(), "canary-password-1")
    log_in(Client())
    written = repr(list(Event.objects.values_list()))
    assert "canary" not in written
    assert PASSWORD not in written


def test_who_is_logged_in_needs_no_log_in_page(person):
    client = Client()
    log_in(client)
    assert client.get("/admin/login/").headers["Location"] == "/"
