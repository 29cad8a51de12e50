"""Services and scripts: install, configure, uninstall, the form made from a schema."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from atributo_site.console.push.schema_form import SchemaForm
from atributo_site.core.events import Actor, acting, record
from queues.models import QueuedJob, Service
from tests.console.page_elements import INJECTION, Elements
from tests.factories.jobs import make_job, make_queue, make_script

pytestmark = pytest.mark.django_db


def install(client, folder="multiplier", mount="/math/multiplier"):
    return client.post("/services/", {"folder": folder, "mount": mount})


def test_a_folder_is_installed_at_a_mount(client_as):
    client = client_as("admin")
    answer = install(client)
    assert answer.headers["Location"] == "/services/math/multiplier/"
    page = client.get(answer.headers["Location"]).text
    assert "/services/math/multiplier/-/scripts/multiply/" in page
    assert "/math/multiplier" in client.get("/services/").text


@pytest.mark.parametrize(
    ("folder", "mount", "status"),
    [
        ("../etc", "/x", 400),
        ("nowhere", "/x", 400),
        ("multiplier", "no-slash", 400),
        ("multiplier", "", 400),
    ],
)
def test_what_cannot_be_installed_is_explained(folder, mount, status, client_as):
    answer = install(client_as("admin"), folder, mount)
    assert answer.status_code == status
    assert not Service.objects.exists()


def test_only_administrators_install(client_as):
    assert install(client_as("operator")).status_code == 403
    assert 'name="folder"' not in client_as("operator").get("/services/").text


@pytest.mark.django_db(transaction=True)
def test_development_configuration_and_uninstall(client_as, scripts_start_quickly):
    client = client_as("admin")
    install(client, "mailer", "/mailer")
    client.post("/services/mailer/-/development", {"on": "yes"})
    configured = '{"sender": "me@here", "password": "canary-9"}'
    client.post("/services/mailer/-/configure", {"configuration": configured})
    page = client.get("/services/mailer/").text
    assert "me@here" in page
    assert "canary-9" not in page
    kept = '{"sender": "you@here", "password": "•••"}'
    client.post("/services/mailer/-/configure", {"configuration": kept})
    service = Service.objects.get()
    assert service.configuration == {"sender": "you@here", "password": "canary-9"}
    assert service.development
    assert "Uninstall /mailer?" in client.get("/services/mailer/-/uninstall").text
    client.post("/services/mailer/-/uninstall")
    assert not Service.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_configuration_that_is_none_is_refused(client_as, scripts_start_quickly):
    client = client_as("admin")
    install(client, "mailer", "/mailer")
    for text in ("[", "[]", '{"sender": 5}'):
        client.post("/services/mailer/-/configure", {"configuration": text})
    assert Service.objects.get().configuration == {}


def test_a_service_that_is_none(client_as):
    client = client_as("admin")
    assert client.get("/services/nowhere/").status_code == 404
    assert client.get("/services/nowhere/-/scripts/x/").status_code == 404
    assert client.post("/services/nowhere/-/upgrade").status_code == 404


def test_the_form_has_a_field_for_each_property(client_as):
    make_script()
    page = client_as("operator").get("/services/mailer/-/scripts/send-mail/").text
    assert 'name="data-to" type="text" required' in page
    assert 'name="data-copies" type="number" value="1" min="1"' in page
    assert 'name="data-loud" value="yes"' in page
    assert 'name="data-pin" type="password"' in page
    assert "manage.py script /mailer send-mail --data" in page
    assert "curl -X POST" in page.replace("&#x27;", "'")


def test_the_address_fills_the_form(client_as):
    make_script()
    page = client_as("operator").get("/services/mailer/-/scripts/send-mail/?data-to=ada").text
    assert 'name="data-to" type="text" required value="ada"' in page


def test_the_form_pushes_a_job_with_options(client_as):
    make_script()
    make_queue()
    given = {"data-to": "ada", "data-loud": "yes", "queue": "mail", "priority": "2"}
    answer = client_as("operator").post("/services/mailer/-/scripts/send-mail/push", given)
    job = QueuedJob.objects.get()
    assert answer.headers["Location"] == f"/jobs/{job.pk}/"
    assert job.data == {"to": "ada", "copies": 1, "how": "fast", "loud": True}
    assert (job.priority, job.pushed_by) == (2, "operator")


def test_what_the_schema_refuses_is_told_at_its_field(client_as):
    make_script()
    make_queue()
    given = {"data-to": "ada", "data-copies": "0", "queue": "mail"}
    answer = client_as("operator").post("/services/mailer/-/scripts/send-mail/push", given)
    assert answer.status_code == 400
    assert "copies: must be at least 1" in answer.text
    assert 'value="ada"' in answer.text
    assert not QueuedJob.objects.exists()


def test_a_dry_run_is_a_button_of_its_own_and_never_pushed(client_as):
    make_script()
    make_queue()
    client, url = client_as("operator"), "/services/mailer/-/scripts/send-mail/"
    assert 'type="submit" name="dry_run" value="yes"' in client.get(url).text
    answer = client.post(f"{url}push", {"data-to": "ada", "queue": "mail", "dry_run": "yes"})
    assert answer.status_code == 400
    assert "cannot be pushed" in answer.text
    assert 'value="ada"' in answer.text
    assert not QueuedJob.objects.exists()


def test_what_was_run_at_once_is_among_the_last_runs(client_as):
    make_script()
    url = "/services/mailer/-/scripts/send-mail/"
    assert "This script never ran" in client_as("viewer").get(url).text
    job = make_job(make_queue(), "complete", created_at="2026-01-31T12:00Z")
    with acting(Actor("ada", "browser")):
        record("script.ran", "service:/mailer", script="send-mail", seconds=0.25)
        record("script.dry_ran", "service:/mailer", script="send-mail", seconds=0.5)
        record("script.failed", "service:/mailer", script="send-mail", error=INJECTION)
        record("script.ran", "service:/mailer", script="another", seconds=9)
    page = client_as("viewer").get(url).text
    rows = page.partition("Last runs</h2>")[2].partition("</table>")[0].split('data-label="Run"')
    words = [re.sub("<[^>]+>", "", row) for row in rows[1:]]
    assert len(words) == 4 and "injected" not in Elements(page).ids
    assert ["Run now" in words[0], "Dry run" in words[1], "by ada, 250ms" in words[2]] == [True] * 3
    assert str(job.pk) in words[3]


def test_viewers_look_but_do_not_run(client_as):
    make_script()
    client = client_as("viewer")
    assert "not run them" in client.get("/services/mailer/-/scripts/send-mail/").text
    for path in ("", "push"):
        assert client.post(f"/services/mailer/-/scripts/send-mail/{path}").status_code == 403


@pytest.mark.parametrize(
    ("schema", "given", "data"),
    [
        (None, {"data": ""}, None),
        (None, {"data": '{"a": 12345678901234567890}'}, {"a": 12345678901234567890}),
        ({"type": "string"}, {"data": '"x"'}, "x"),
        ({"prefixItems": [{"type": "number"}, {}]}, {"data-0": "1.5", "data-1": "[2]"}, [1.5, [2]]),
        ({"prefixItems": [{"type": "number"}]}, {}, None),
        ({"properties": {"a": {"enum": [1, None]}}}, {"data-a": "1"}, {"a": 1}),
        ({"properties": {"a": {"type": "string"}}}, {"data-a": ""}, {}),
        ({"properties": {"a": True}}, {"data-a": "{}"}, {"a": {}}),
    ],
)
def test_a_filled_form_is_data(schema, given, data):
    assert SchemaForm(schema).read(given) == data


def test_no_text_is_taken_for_html(client_as):
    script = make_script(
        schema={"properties": {INJECTION: {"title": INJECTION, "enum": [INJECTION]}}}
    )
    script.title = script.description = INJECTION
    script.save()
    Service.objects.update(description=INJECTION, name=INJECTION[:100])
    client = client_as("admin")
    paths = ["/services/", "/services/mailer/", "/services/mailer/-/scripts/send-mail/"]
    for path in [*paths, "/services/mailer/-/uninstall"]:
        page = Elements(client.get(path).text)
        assert "injected" not in page.ids
        assert page.handlers == []


@pytest.mark.parametrize(
    "path", ["/services/", "/services/mailer/", "/services/mailer/-/scripts/send-mail/"]
)
def test_more_rows_need_no_more_queries(path, client_as, django_assert_num_queries):
    make_script()
    queue = make_queue()
    make_job(queue)
    client = client_as("admin")
    client.get(path)
    with CaptureQueriesContext(connection) as few:
        client.get(path)
    for number in range(12):
        make_script(f"/other{number}", "x")
        make_script("/mailer", f"more{number}")
        make_job(queue)
    with django_assert_num_queries(len(few)):
        client.get(path)
