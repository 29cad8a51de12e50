"""Log-in through the real form is throttled and recorded, and says so."""

import re
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, get_hasher
from django.db.models import F
from django.test import Client, RequestFactory

from atributo_site.core.models import Event
from atributo_site.web.login import may_try
from tests.fixtures.users import PASSWORD, log_in


def kinds():
    return list(Event.objects.order_by("id").values_list("kind", "subject", "actor"))


def at(client):
    """Return a request of this browser."""
    request = RequestFactory().post("/admin/login/")
    request.COOKIES.update({name: each.value for name, each in client.cookies.items()})
    return request


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
    assert 3000 < int(answers[-1].headers["Retry-After"]) <= 3600
    assert log_in(Client()).status_code == 429


def test_guesses_during_a_lock_do_not_make_it_longer(person, settings):
    settings.AXES_FAILURE_LIMIT = 2
    for _ in range(3):
        log_in(Client(), "wrong")
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=50))
    locked = log_in(Client(), "wrong")
    assert locked.status_code == 429 and 0 < int(locked.headers["Retry-After"]) <= 600
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=10))
    assert log_in(Client()).status_code == 302


def test_a_browser_that_its_owner_has_used_is_not_locked_by_strangers(person, settings):
    settings.AXES_FAILURE_LIMIT = 3
    known, stranger = Client(), Client()
    log_in(known)
    known.post("/admin/logout/")
    for _ in range(6):
        log_in(stranger, "wrong")
    assert log_in(stranger).status_code == 429
    assert log_in(known).status_code == 302


def test_a_known_browser_guesses_no_more_than_any_other(person, settings):
    settings.AXES_FAILURE_LIMIT = 3
    client = Client()
    log_in(client)
    client.post("/admin/logout/")
    statuses = [log_in(client, "wrong").status_code for _ in range(8)]
    assert statuses[:3] == [200] * 3 and statuses[-1] == 429
    assert log_in(client).status_code == 429


@pytest.mark.parametrize("name", ["walt", "nobody"])
def test_a_browser_is_known_for_its_own_user_alone(person, user_as, settings, name):
    settings.AXES_FAILURE_LIMIT = 2
    user_as("admin", "walt")
    client = Client()
    log_in(client)
    assert may_try(at(client), {"username": "vera"})
    assert not may_try(at(client), {"username": name})
    assert not may_try(at(Client()), {"username": "vera"})


def test_a_new_password_makes_the_browser_unknown(person):
    client = Client()
    log_in(client)
    person.set_password("a completely different phrase")
    person.save()
    assert not may_try(at(client), {"username": "vera"})


def test_the_mark_of_a_browser_is_sent_to_the_log_in_alone(person):
    client = Client()
    log_in(client)
    mark = client.cookies["known"]
    assert (mark["path"], mark["httponly"], mark["samesite"]) == ("/admin/login/", True, "Lax")


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
