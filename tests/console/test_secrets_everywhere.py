"""No page or REST answer shows a viewer a secret of any row."""

import pytest

from allocation.transactions.models import (
    Document,
    DocumentEvent,
    DocumentVersion,
    JournalEntry,
    Transaction,
)
from atributo_site.core.models import Event
from queues.models import QueuedJob, Service
from tests.console.addresses import raw_lists
from tests.console.every_url import every_url
from tests.console.full_site import fill, screens
from tests.factories.jobs import SCHEMA, make_job, make_queue, make_script

pytestmark = pytest.mark.django_db
NAME = "bench"  # the addresses contain it
KEYS = ["password", "password2", "x-api-key", "X-API-Key", "accessKeyId", "pwd", "dsn", "bearer"]
KEYS += ["privateKey", "connection_string", "authorization", "set-cookie", "passphrase", "token"]
ADDRESS = "postgresql://site:canary-url@db/site"
VALUE = {
    **{name: f"canary-{number}" for number, name in enumerate(KEYS)},
    "database_url": ADDRESS,
    "deep": [{"headers": {"Authorization": "Bearer canary"}}, ["see", ADDRESS]],
}
DEFINITIONS = {
    "smtp": {"type": "password", "default": "canary-default"},
    "greeting": {"type": "string"},
}
LISTS = ["jobs", "events", "services", "transactions", "snapshot", "locks", "instances", "queues"]
LISTS += [f"collections/{NAME}", f"collections/{NAME}/{NAME}", f"collections/{NAME}/{NAME}/refs"]
LISTS += [f"collections/{NAME}/{NAME}/refs?values=true", f"collections/{NAME}?query=*"]
LISTS += ["services?mount=/mailer", "services/configuration?mount=/mailer", "services/scripts"]


@pytest.fixture
def secrets(db):
    fill(NAME)
    for model in (Document, DocumentVersion, DocumentEvent):
        model.objects.update(value=VALUE)
    JournalEntry.objects.update(before_value=VALUE)
    for event in Event.objects.all():
        Event.objects.filter(pk=event.pk).update(facts=event.facts | VALUE)
    result = VALUE | {"note": "canary-0, canary-conf and canary-default were tried"}
    data = VALUE | {"note": "try canary-0"}
    QueuedJob.objects.update(mount="/mailer", script=NAME, data=data, result=result)
    configuration = {"greeting": "hello", "api-key": "canary-conf"}
    Service.objects.update(definitions=DEFINITIONS, configuration=configuration)


@pytest.mark.only_on("sqlite")  # what is masked is masked in Python
def test_no_screen_and_no_raw_row_shows_a_secret(secrets, client_as):
    client = client_as("viewer")
    paths = {*screens(NAME).values(), *raw_lists().values()}
    answers = {path: client.get(path) for path in paths}
    assert [path for path, answer in answers.items() if "canary" in answer.text] == []
    assert sum("•••" in answer.text for answer in answers.values()) > 5
    assert sum(answer.status_code == 200 for answer in answers.values()) > 80


@pytest.mark.only_on("sqlite")
def test_no_answer_of_rest_shows_a_secret(secrets, rest_as):
    viewer = rest_as("viewer")
    jobs = QueuedJob.objects.values_list("pk", flat=True)
    rows = [f"jobs/{pk}{end}" for pk in jobs for end in ("", "/attempts")]
    rows += [f"transactions/{pk}" for pk in Transaction.objects.values_list("pk", flat=True)]
    answers = {path: viewer.get(f"/api/v1/{path}") for path in [*LISTS, *rows]}
    assert [path for path, answer in answers.items() if "canary" in answer.text] == []
    assert sum("•••" in answer.text for answer in answers.values()) > 10
    assert "canary" not in viewer.get("/metrics").text


def test_the_page_of_a_job_shows_what_rest_shows(client_as, rest_as, db):
    script = make_script(schema=SCHEMA)
    Service.objects.update(definitions=DEFINITIONS, configuration={"smtp": "canary-smtp"})
    data = {"to": "ada", "pin": "canary-pin", "api-key": "canary-key"}
    told = {"said": "canary-pin canary-key canary-smtp", "x-api-key": "canary-9", "count": 3}
    job = make_job(make_queue(), "complete", data=data, result=told, script=script.name)
    page = client_as("viewer").get(f"/jobs/{job.pk}/").text
    shown = rest_as("viewer").get(f"/api/v1/jobs/{job.pk}").json()
    assert shown["result"] == {"said": "••• ••• •••", "x-api-key": "•••", "count": 3}
    assert shown["data"] == {"to": "ada", "pin": "•••", "api-key": "•••"}
    assert "canary" not in page and "••• ••• •••" in page


QUESTIONS = ["data:canary-p", "data.pin:canary", "data.url:canary-pin", "data.note:canary-url"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_a_job_hides_is_not_found_by_it(question, client_as, rest_as, db):
    make_script(schema=SCHEMA)
    url = "https://ada:canary-pin@host/"
    data = {"to": "ada", "pin": "canary-pin", "url": url, "note": f"see {ADDRESS}"}
    job = make_job(make_queue(), data=data)
    viewer = rest_as("viewer")
    found, none = (
        viewer.get("/api/v1/jobs", {"text": text}).json() for text in ("data.to:ada", question)
    )
    assert [one["id"] for one in found["results"]] == [str(job.pk)]
    assert none["results"] == []
    assert f"/jobs/{job.pk}/" not in client_as("viewer").get("/jobs/", {"q": question}).text


def test_no_filter_of_rest_reaches_into_a_value(rest_as, db):
    """Neither Django's look-ups nor paths into JSON reveal one."""
    lists = [url.path for url in every_url() if url.kind == "rest" and url.path in LISTED]
    assert len(lists) == len(LISTED)
    viewer = rest_as("viewer")
    for path in lists:
        for name in (
            "data__password",
            "value__password__regex",
            "facts__x",
            "id__regex",
            "ordering",
        ):
            assert viewer.get(path, {name: "^c"}).status_code == 400, (path, name)


LISTED = ["/api/v1/jobs", "/api/v1/events", "/api/v1/instances", "/api/v1/allocations"]
LISTED += ["/api/v1/transactions", "/api/v1/locks", "/api/v1/pools"]
