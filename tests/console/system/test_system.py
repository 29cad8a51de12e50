"""System: health, settings without secrets, own tokens."""

import json
import re
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from allocation.atributo import Atributo
from atributo_site.config.environment import Environment
from atributo_site.config.groups import GROUP_OF
from atributo_site.config.variables import variables_of
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import from_now
from atributo_site.models import IdempotencyKey, TokenScope
from atributo_site.web import tokens
from queues import catalogue
from tests.factories.jobs import make_job, make_queue

TOKENS = "/system/tokens/"
NEW = {"name": "ci", "level": "view", "days": "30"}


def filled(client, **wishes):
    """Return the form of the page as a browser sends it."""
    number = re.search(r'name="number" value="([^"]+)"', client.get(TOKENS).text)[1]
    return {**NEW, "number": number, **wishes}


def shown_token(page):
    return re.search(r'data-copy="([^"]{40,})"', page.text)[1]


@pytest.mark.parametrize("tab", ["", "processes/", "settings/", "api/", "tokens/"])
def test_every_tab_answers_every_role(tab, client_as, db):
    for role in ("viewer", "operator", "admin"):
        assert client_as(role).get(f"/system/{tab}").status_code == 200


def test_audit_and_the_tool_for_ids_are_one_click_away(client_as, db):
    client = client_as("viewer")
    page = client.get("/system/").text
    for name, url in (("Audit", "/events/?by=people"), ("Job ids", "/job-ids/")):
        assert f'<a href="{url}">{name}</a>' in page
        assert client.get(url).status_code == 200


@pytest.mark.parametrize(
    ("url", "name"), [("/events/?by=people", "Audit"), ("/job-ids/", "Job ids")]
)
def test_audit_and_the_tool_for_ids_stay_in_the_tabs(url, name, client_as, db):
    page = client_as("viewer").get(url).text
    assert f'<a href="{url}" aria-current="page">{name}</a>' in page
    assert '<a href="/system/">Health</a>' in page


def test_health_shows_the_lines_of_the_doctor_with_their_fixes(client_as, db):
    page = client_as("viewer").get("/system/").text
    assert "migrations" in page
    assert "manage.py run_curator" in page


def test_only_commands_are_offered_for_copying(client_as, settings):
    settings.REDIS_URL = "unix:///nonexistent/valkey.sock"
    page = client_as("viewer").get("/system/").text
    assert 'data-copy="manage.py run_curator"' in page
    assert '<td data-label="How to fix it">start it, or correct REDIS_URL</td>' in page


def test_health_shows_what_is_kept_and_for_how_long(client_as, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, event_retention_days=7)
    client = client_as("viewer")
    for number in range(3):
        record("thing.happened", f"thing:{number}")
    make_job(make_queue("mail"), "complete")
    catalogue.set_retention("mail", 5)
    page = re.sub(r"<[^>]+>", "|", client.get("/system/").text)
    assert re.search(r"Finished jobs\|+5 to 30 days\|+1\|+", page)
    events = r"Events\|+7 days\|+about \d+\|+(just now|\d+ s ago)\|+ATRIBUTO_EVENT_RETENTION_DAYS"
    assert re.search(events, page)
    assert re.search(r"Versions\|+\d+ days\|+0\|+–", page)
    assert re.search(r"database size [\d.]+.[KM]B", page)


def test_settings_show_their_source_and_hide_secrets(client_as, db, monkeypatch):
    monkeypatch.setenv("ATRIBUTO_SECRET_KEY", "canary-key")
    monkeypatch.setenv("ATRIBUTO_PORT", "8123")
    page = client_as("admin").get("/system/settings/").text
    assert "canary-key" not in page
    assert "•••" in page
    assert re.search(r"ATRIBUTO_PORT</code>.*?is-set\">environment", page, re.DOTALL)


def test_a_terminal_lists_the_settings_of_the_page(client_as, db, monkeypatch, capsys):
    monkeypatch.setenv("ATRIBUTO_SECRET_KEY", "canary-key")
    call_command("doctor", "--list-settings", "--json")
    found = json.loads(capsys.readouterr().out)
    page = client_as("viewer").get("/system/settings/").text
    assert len(found) > 20 and all(f">{each['name']}<" in page for each in found)
    call_command("doctor", "--list-settings")
    text = capsys.readouterr().out
    assert "ATRIBUTO_SECRET_KEY" in text and "canary-key" not in text + str(found)


def test_processes_show_what_each_worker_runs_and_serves(client_as, db):
    queue = make_queue("mail")
    queue.slots.filter(number=0).update(holder="node:1:a", leased_until=from_now(60))
    job = make_job(queue, "progress", slot=queue.slots.get(number=0))
    Atributo().available("ada/1")
    HeldLease.take("worker/busy", "node:1:a", 60, instance="ada/1")
    HeldLease.take("worker/idle", "node:2:b", 60)
    client = client_as("viewer")
    page = client.get("/system/processes/").text
    assert f'<a class="job-id" href="/jobs/{job.pk}/">{job.pk}</a> /mailer/send-mail' in page
    assert '<a href="/queues/mail/">mail</a>' in page
    assert '<a href="/instances/ada%1F1/">ada/1</a>' in page
    told = client.get("/api/v1/snapshot").json()["processes"]
    assert [each["runs"] and each["runs"]["job_id"] for each in told] == [str(job.pk), None]


def test_as_many_queries_for_many_workers(client_as, db, django_assert_num_queries):
    client = client_as("viewer")
    client.get("/system/processes/")
    with CaptureQueriesContext(connection) as few:
        client.get("/system/processes/")
    queue = make_queue("mail")
    for slot in queue.slots.all():
        HeldLease.take(f"worker/{slot.number}", f"node:{slot.number}", 60)
        queue.slots.filter(pk=slot.pk).update(
            holder=f"node:{slot.number}", leased_until=from_now(9)
        )
        make_job(queue, "progress", slot=slot)
    with django_assert_num_queries(len(few)):
        client.get("/system/processes/")


def test_a_token_is_shown_once_and_works(client_as, db):
    client = client_as("viewer")
    page = client.post(TOKENS, filled(client))
    text = shown_token(page)
    assert page.text.count(text) == 2  # to read and to copy, and in no field that is sent on
    assert text not in client.get(TOKENS).text
    answer = client_as(None).get("/api/v1/me", headers={"Authorization": f"Bearer {text}"})
    assert answer.status_code == 200
    assert text not in repr(list(Event.objects.values_list()))


def test_a_reload_makes_no_second_token(client_as, db):
    client = client_as("viewer")
    form = filled(client)
    text = shown_token(client.post(TOKENS, form))
    again = client.post(TOKENS, form, follow=True)
    assert again.redirect_chain == [(TOKENS, 302)]
    assert "No token was created" in again.text and text not in again.text
    assert TokenScope.objects.count() == 1
    kept = [*IdempotencyKey.objects.values_list(), *client.session.items()]
    assert text not in repr(kept)


@pytest.mark.parametrize("number", ["", "x", "of another user"])
def test_a_form_that_nobody_knows_makes_no_token(number, client_as, db):
    client = client_as("viewer")
    number = {"of another user": filled(client_as("admin"))["number"]}.get(number, number)
    answer = client.post(TOKENS, {**NEW, "number": number})
    assert (answer.status_code, TokenScope.objects.count()) == (409, 0)
    assert "Send the form again" in answer.text


def test_a_refused_form_can_be_sent_again(client_as, db, monkeypatch):
    client = client_as("viewer")
    form = filled(client)
    with monkeypatch.context() as patched:
        patched.setattr(tokens, "MOST_TOKENS", 0)
        assert client.post(TOKENS, form).status_code == 409
    assert shown_token(client.post(TOKENS, form))


def test_nobody_gives_a_token_more_than_they_may(client_as, db):
    response = client_as("viewer").post(TOKENS, {**NEW, "level": "administer"})
    assert response.status_code == 400
    assert not TokenScope.objects.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", ""),
        ("name", "x" * 101),
        ("name", "a\x00"),
        ("days", "0"),
        ("days", "99999"),
        ("days", "x"),
    ],
)
def test_a_token_that_cannot_be_made_is_explained(name, value, client_as, db):
    response = client_as("viewer").post(TOKENS, {**NEW, name: value})
    assert response.status_code == 400
    assert "field-error" in response.text


def test_a_revoked_token_is_dead_at_once(client_as, user_as):
    scope, text = tokens.make_token(user_as("viewer"), "ci", "view", 1)
    response = client_as("viewer").post(f"{TOKENS}{scope.pk}/revoke")
    assert response.status_code == 302
    bearer = {"Authorization": f"Bearer {text}"}
    assert client_as(None).get("/api/v1/me", headers=bearer).status_code == 401
    assert list(Event.objects.values_list("kind", flat=True)) == ["token.made", "token.revoked"]


def test_nobody_revokes_the_token_of_somebody_else(client_as, user_as):
    scope, _ = tokens.make_token(user_as("operator"), "ci", "view", 1)
    assert client_as("admin").post(f"{TOKENS}{scope.pk}/revoke").status_code == 404
    assert TokenScope.objects.filter(pk=scope.pk).exists()


def test_an_administrator_ends_any_token_in_the_raw_list(client_as, user_as):
    scope, _ = tokens.make_token(user_as("viewer"), "ci", "view", 1)
    path = f"/admin/atributo_site/tokenscope/{scope.pk}/delete/"
    assert client_as("admin").post(path, {"post": "yes"}).status_code == 302
    assert not TokenScope.objects.exists()


def test_the_hash_of_a_token_is_on_no_page(client_as, user_as):
    scope, _ = tokens.make_token(user_as("admin"), "ci", "view", 1)
    client = client_as("admin")
    row = f"/admin/atributo_site/tokenscope/{scope.pk}/"
    for path in (TOKENS, "/admin/atributo_site/tokenscope/", f"{row}change/", f"{row}delete/"):
        assert scope.token.digest not in client.get(path).text


def test_too_many_tokens_are_refused(client_as, user_as, monkeypatch):
    monkeypatch.setattr(tokens, "MOST_TOKENS", 1)
    client = client_as("viewer")
    client.post(TOKENS, filled(client))
    response = client.post(TOKENS, filled(client))
    assert response.status_code == 409
    assert "revoke one first" in response.text


def test_settings_are_grouped_and_filtered_by_name_and_description(client_as, db, monkeypatch):
    monkeypatch.setenv("ATRIBUTO_SECRET_KEY", "canary-key")
    client = client_as("viewer")
    page = client.get("/system/settings/").text
    assert page.index(">Web server</h2>") < page.index("ATRIBUTO_PORT") < page.index(">DNS</h2>")
    found = client.get("/system/settings/?q=PORT").text
    assert "ATRIBUTO_PORT" in found and "ATRIBUTO_IDLE_MINUTES" not in found
    assert "No settings match" in client.get("/system/settings/?q=canary-key").text
    found = client.get("/system/settings/?set=yes").text
    assert "ATRIBUTO_SECRET_KEY" in found and "ATRIBUTO_STRATEGY" not in found


def test_every_group_names_settings_that_exist():
    assert set(GROUP_OF) <= set(variables_of(Environment))
