"""Operations: one action on every job that matches, done by the curator piece by piece."""

import json

import pytest
from django.core.management import call_command

from allocation.atributo import Atributo
from allocation.placement.drains import drain
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.errors import BadOperation
from queues.jobs import operations
from queues.models import Operation, QueuedJob
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db
FAILED = {"state": "failed", "text": "queue:mail"}


@pytest.fixture
def queue():
    return make_queue()


@pytest.fixture
def sweep(monkeypatch):
    """Pieces of three, so that a few jobs need several."""
    monkeypatch.setattr(operations, "PIECE", 3)
    lease = HeldLease.take("curator", "test", 600)
    return lambda: operations.advance(database_now(), lease)


def start(action="retry", query=FAILED, **options):
    return operations.start(action, query, database_now(), **options)


def fail(queue, count, **fields):
    return [make_job(queue, "failed", error="no", **fields) for _ in range(count)]


def test_every_matching_job_is_retried_once_and_no_other(queue, sweep):
    fail(queue, 20)
    other = make_job(make_queue("news"), "failed", error="no")
    made = start(reason="mended")
    late = make_job(queue, "failed", error="later")
    while Operation.objects.unfinished().exists():
        sweep()
    made.refresh_from_db()
    assert (made.state, made.visited, made.changed, made.refused) == ("complete", 20, 20, 0)
    left = set(QueuedJob.objects.filter(status="failed").values_list("pk", flat=True))
    assert left == {other.pk, late.pk}


def test_a_sweep_does_a_bounded_number_of_pieces(queue, sweep):
    fail(queue, 20)
    made = start()
    sweep()
    made.refresh_from_db()
    assert (made.state, made.changed) == ("running", 3 * operations.PIECES_PER_SWEEP)
    assert made.percent == 60


def test_what_cannot_be_changed_is_listed_with_the_reason(queue, sweep):
    make_job(queue, "failed", error="no", unique_key="one")
    make_job(queue, unique_key="one")
    running = make_job(queue, "progress", attempt=1)
    made = start(query={"text": "queue:mail"})
    sweep()
    reasons = {row.job_id: row.reason for row in made.refusals.all()}
    assert reasons[running.pk] == "It is running."
    assert any("unique key" in reason for reason in reasons.values())
    assert Operation.objects.get().refused == len(reasons) == 2


def test_matches_beyond_the_window_of_the_search_are_found(queue, sweep, monkeypatch):
    monkeypatch.setattr("queues.queries.search.LOOKED_THROUGH", 4)
    fail(queue, 2)
    for _ in range(9):
        make_job(queue, "failed", error="other")
    made = start(query={"text": "error:no"}, upto=None)
    while Operation.objects.unfinished().exists():
        sweep()
    assert Operation.objects.get(pk=made.pk).changed == 2


def test_stopped_it_leaves_the_rest_alone(queue, sweep):
    fail(queue, 20)
    made = start("delete")
    sweep()
    assert operations.abort(made.pk)
    sweep()
    assert QueuedJob.objects.count() == 8
    assert not operations.abort(made.pk)


def test_all_of_everything_must_be_meant(queue):
    with pytest.raises(BadOperation):
        start(query={"state": "failed"})
    assert start(query={"state": "failed"}, everything=True).pk


def test_a_curator_that_was_replaced_does_nothing(queue, sweep):
    fail(queue, 3)
    start()
    HeldLease.take("curator", "test", 0)
    Event.objects.all().delete()
    from atributo_site.core.errors import LeaseLost
    from atributo_site.core.models import Lease

    Lease.objects.filter(role="curator").update(token=999)
    with pytest.raises(LeaseLost):
        sweep()
    assert QueuedJob.objects.filter(status="failed").count() == 3


def test_by_rest_and_by_command(queue, sweep, client_as, capsys):
    fail(queue, 2)
    client = client_as("operator")
    body = json.dumps({"action": "retry", "query": FAILED, "reason": "mended"})
    made = client.post("/api/v1/operations", body, content_type="application/json")
    assert (made.status_code, made.json()["expected"]) == (201, 2)
    sweep()
    sweep()
    shown = client.get(f"/api/v1/operations/{made.json()['id']}").json()
    assert (shown["state"], shown["changed"], shown["refusals"]) == ("complete", 2, [])
    call_command("operations", "start", "abort", "--query", "queue:mail", "--json")
    assert json.loads(capsys.readouterr().out)["action"] == "abort"
    call_command("operations", "list")
    assert "queue:mail" in capsys.readouterr().out


def test_the_command_speaks_in_sentences(queue, capsys):
    fail(queue, 1)
    call_command("operations", "start", "retry", "--state", "failed", "--query", "queue:mail")
    made = Operation.objects.get()
    assert capsys.readouterr().out == f"Operation {made.pk} is started, for 1 job: {made.said}.\n"
    call_command("operations", "show", str(made.pk))
    assert "waiting" in capsys.readouterr().out
    for said in ("is aborted; finished changes stay", "had already finished"):
        call_command("operations", "abort", str(made.pk))
        assert capsys.readouterr().out == f"Operation {made.pk} {said}.\n"


def test_a_viewer_may_look_and_nothing_else(queue, client_as):
    made, client = start(), client_as("viewer")
    assert client.get("/system/operations/").status_code == 200
    assert "Stop it" not in client.get(f"/system/operations/{made.pk}/").text
    assert client.post(f"/system/operations/{made.pk}/abort").status_code == 403


def test_many_are_not_deleted_without_a_typed_word(queue, client_as):
    fail(queue, 101)
    client = client_as("operator")
    asked = {"action": "delete", "scope": "all", "state": "failed", "q": "queue:mail"}
    assert "This affects many jobs and cannot be undone." in client.get("/jobs/bulk/", asked).text
    assert client.post("/jobs/bulk/", {**asked, "sure": "yes"}).status_code == 400
    assert not Operation.objects.exists()
    client.post("/jobs/bulk/", {**asked, "sure": "yes", "word": "all jobs"})
    assert Operation.objects.get().action == "delete"


def test_more_than_a_hundred_become_an_operation(queue, sweep, client_as):
    fail(queue, 101)
    client = client_as("operator")
    asked = {"action": "retry", "scope": "all", "state": "failed", "q": "queue:mail"}
    page = client.get("/jobs/bulk/", asked).text
    assert "Retry 101 jobs?" in page
    assert "--state failed" in page
    answer = client.post("/jobs/bulk/", {**asked, "sure": "yes", "reason": "mended"}, follow=True)
    assert "The curator works through the jobs in batches" in answer.text
    assert Operation.objects.get().reason == "mended"
    assert QueuedJob.objects.filter(status="failed").count() == 101


def test_the_page_leads_to_where_the_keys_of_a_drain_went(client_as, db):
    Atributo().available("ada")
    Atributo().allocate("customer-7")
    drain("ada", reason="new kernel")
    page = client_as("viewer").get("/system/operations/").text
    assert "new kernel" in page and 'href="/instances/ada/moves/?since=' in page
