"""The connection is cut while PostgreSQL does what came over REST, from a page or a command."""

from contextlib import suppress
from io import StringIO

import pytest
from django.core.management import call_command

import queues
from allocation.atributo import Atributo
from allocation.transactions import Client as Documents
from allocation.transactions.models import DocumentVersion
from atributo_site.core.database import _prepared_as
from atributo_site.core.events import _insert
from atributo_site.core.models import Event
from atributo_site.core.retry import retry_busy

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.only_on("postgresql"),
    pytest.mark.urls("tests.rest.rest_urls"),
]
OF_AN_EVENT = "the statement that records the event"
IN_DOUBT = ("may be done or not", "may or may not have been done")  # on a page, by a command
AS_JSON = {"content_type": "application/json"}
WRITES = {  # method, path, body, the event of it
    "create a queue": ("post", "/api/v1/queues", {"name": "new"}, "queue.created"),
    "pause a queue": ("post", "/api/v1/queues/work/pause", {}, "queue.paused"),
    "delete a queue": ("delete", "/api/v1/queues/work", {}, "queue.deleted"),
    "change an instance": ("patch", "/api/v1/instances/a", {"weight": 7}, "instance.changed"),
}


@pytest.fixture
def admin(wire, rest_as):
    """Its token is known to the program, and the queue `work` and the instance `a` are there."""
    client = rest_as("admin")
    queues.create("work")
    Atributo().available("a")
    wire.does(lambda: client.get("/api/v1/me"))
    return client


@pytest.fixture(params=WRITES)
def write(request, admin):
    """write(): send it; write.count(): how often it is done."""
    method, path, body, kind = WRITES[request.param]
    earlier = Event.objects.filter(kind=kind).count()
    send = lambda: getattr(admin, method)(path, body, **AS_JSON)  # noqa: E731
    send.count = lambda: Event.objects.filter(kind=kind).count() - earlier
    return send


def said(answer) -> str:
    """What the sender knows: it is done, not done, or in doubt."""
    if answer.status_code < 400:
        return "done"
    body = answer.json()
    assert answer.status_code == 503 and ("Retry-After" in answer) != body.get("in_doubt", False)
    return "in doubt" if body["code"] == "in_doubt" else "not done"


@pytest.mark.parametrize("lose", ["lose_the_question", "lose_the_answer"])
def test_a_write_whose_commit_is_cut_off_is_in_doubt(wire, write, lose):
    assert said(getattr(wire, lose)(write, "COMMIT").result(60)) == "in doubt"
    wire.settled()
    assert write.count() == (lose == "lose_the_answer")


@pytest.mark.parametrize("lose", ["lose_the_question", "lose_the_answer"])
def test_a_write_that_is_cut_off_before_its_commit_is_told_as_it_is(wire, write, lose):
    statement = OF_AN_EVENT if lose == "lose_the_question" else "INSERT 0 1"
    answer = said(getattr(wire, lose)(write, on_the_wire(statement)).result(60))
    wire.settled()
    assert (answer, write.count()) in {("done", 1), ("not done", 0)}


def on_the_wire(statement):
    """Return what the message has of a statement: a prepared one is sent by its name."""
    return _prepared_as(_insert("default"))[0] if statement == OF_AN_EVENT else statement


READ_AFTERWARDS = ["create a queue", "pause a queue", "change an instance"]


@pytest.mark.parametrize("write", READ_AFTERWARDS, indirect=True)
def test_a_write_that_is_done_before_the_database_goes_away_is_in_doubt(wire, write):
    """Its answer is read after the commit: "busy" would say that nothing was written."""
    answer = said(wire.lose_the_question(write, after="COMMIT", then="refuse").result(60))
    assert wire.proxy.mode == "refuse"
    wire.proxy.mode = "pass"
    wire.settled()
    assert (answer, write.count()) == ("in doubt", 1)


def paused():
    return Event.objects.filter(kind="queue.paused").count()


@pytest.mark.parametrize("lose", ["lose_the_question", "lose_the_answer"])
def test_a_write_in_doubt_is_not_done_again_under_its_key(wire, admin, lose):
    headers = {"Idempotency-Key": "k"}
    send = lambda: admin.post("/api/v1/queues/work/pause", {}, **AS_JSON, headers=headers)  # noqa: E731
    first = getattr(wire, lose)(send, "COMMIT", after="UPDATE 1").result(60)
    second = wire.does(send)
    assert (said(first), second.json()) == ("in doubt", first.json())
    assert second["Idempotency-Replayed"] == "true"
    assert paused() == (lose == "lose_the_answer")


@pytest.mark.parametrize(
    ("lose", "statement"),
    [
        ("lose_the_question", 'UPDATE "atributo_site_idempotencykey"'),
        ("lose_the_answer", "UPDATE 1"),
    ],
)
def test_an_answer_is_remembered_though_the_connection_is_cut(wire, admin, lose, statement):
    headers = {"Idempotency-Key": "k"}
    send = lambda: admin.post("/api/v1/queues", {"name": "new"}, **AS_JSON, headers=headers)  # noqa: E731
    first, second = getattr(wire, lose)(send, statement).result(60), wire.does(send)
    assert (first.status_code, second.json()) == (201, first.json())
    assert second["Idempotency-Replayed"] == "true"
    assert Event.objects.filter(kind="queue.created", subject="queue:new").count() == 1


@pytest.fixture(params=["page", "command"])
def pause(request, wire, admin, client_as):
    """pause() → what the person reads."""
    browser = client_as("admin", raise_request_exception=False)
    wire.does(lambda: browser.get("/queues/work/"))

    def by_page():
        answer = browser.post("/queues/work/pause")
        return "" if answer.status_code == 302 else answer.content.decode()

    def by_command():
        out = StringIO()
        with suppress(SystemExit):
            call_command("queue", "pause", "work", "--json", stdout=out)
        return out.getvalue() if "error" in out.getvalue() else ""

    return by_page if request.param == "page" else by_command


@pytest.mark.parametrize(
    ("lose", "statement", "is_done"),
    [
        ("lose_the_question", "COMMIT", 0),
        ("lose_the_answer", "COMMIT", 1),
        ("lose_the_question", OF_AN_EVENT, 0),
    ],
    ids=["question of the commit", "answer of the commit", "question before it"],
)
def test_a_person_reads_what_is_true(wire, pause, lose, statement, is_done):
    told = getattr(wire, lose)(pause, on_the_wire(statement)).result(60)
    wire.settled()
    assert "database" in told
    assert any(each in told for each in IN_DOUBT) == (statement == "COMMIT")
    assert paused() == is_done


DOCUMENT = "/api/v1/collections/c/old"
IF_MATCH = {"headers": {"If-Match": "*"}}
CHANGES = {  # what is sent, how many versions `old` has then
    "post": (lambda client: client.post("/api/v1/collections/c", {"v": 1}, **AS_JSON), 1),
    "create": (lambda client: client.put("/api/v1/collections/c/new", {"v": 1}, **AS_JSON), 1),
    "put": (lambda client: client.put(DOCUMENT, {"v": 1}, **AS_JSON), 2),
    "patch": (
        lambda client: client.patch(DOCUMENT, [{"op": "inc", "path": "v", "value": 1}], **AS_JSON),
        2,
    ),
    "merge": (lambda client: client.patch(DOCUMENT, {"v": 1}, **AS_JSON), 2),
    "delete": (lambda client: client.delete(DOCUMENT, **IF_MATCH), 2),
}


@pytest.fixture(params=CHANGES)
def change(request, wire, admin):
    """change(): send it; change.is_done_once(): there is one version more, with its event."""
    Documents().put("c", "old", {"v": 0})
    call, versions = CHANGES[request.param]
    send = lambda: call(admin)  # noqa: E731

    def is_done_once():
        there = DocumentVersion.objects
        assert (there.count(), there.of("c", "old").count()) == (2, versions)
        return Event.objects.filter(kind__startswith="document.").count() == 1

    send.is_done_once = is_done_once
    return send


@pytest.mark.parametrize("lose", ["lose_the_question", "lose_the_answer"])
@pytest.mark.parametrize("statement", ["INSERT", "COMMIT"])
def test_a_document_is_written_once_though_the_connection_is_cut(wire, change, lose, statement):
    assert said(getattr(wire, lose)(change, statement).result(60)) == "done"
    wire.settled()
    assert change.is_done_once()


def test_a_patch_whose_answer_is_lost_does_not_undo_what_came_after_it(wire, admin, monkeypatch):
    Documents().put("c", "old", {"v": 0})
    meanwhile = lambda _: Documents().put("c", "old", {"v": 7})  # noqa: E731
    monkeypatch.setitem(retry_busy.__kwdefaults__, "sleep", meanwhile)
    patch = lambda: CHANGES["patch"][0](admin)  # noqa: E731
    assert said(wire.lose_the_commit(patch).result(60)) == "done"
    assert Documents().get("c", "old").json == {"v": 7}
    assert DocumentVersion.objects.of("c", "old").count() == 3


@pytest.mark.parametrize(
    ("lose", "answer", "is_gone"),
    [("lose_the_question", "in doubt", False), ("lose_the_answer", "done", True)],
)
def test_a_deletion_with_its_history_is_told_or_in_doubt(wire, admin, lose, answer, is_gone):
    Documents().put("c", "old", {"v": 0})
    delete = lambda: admin.delete(DOCUMENT)  # noqa: E731
    assert said(getattr(wire, lose)(delete, "COMMIT").result(60)) == answer
    wire.settled()
    assert Documents().get("c", "old").ok is not is_gone
