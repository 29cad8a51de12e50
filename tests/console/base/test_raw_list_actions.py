"""Raw lists: ticked rows are changed by the operations, permissions and events of every door."""

from types import SimpleNamespace

import pytest
from django.contrib import admin

from allocation.atributo import Atributo
from allocation.models import Instance
from allocation.transactions import Client
from allocation.transactions.models import Lock, Transaction
from atributo_site.core.models import Event
from queues.models import Queue, QueuedJob
from tests.factories.jobs import make_job, make_queue
from tests.factories.open_transactions import open_transaction

pytestmark = pytest.mark.django_db
INSTANCES, QUEUES = "/admin/allocation/instance/", "/admin/queues/queue/"
JOBS, LOCKS = "/admin/queues/queuedjob/", "/admin/allocation/lock/"
TRANSACTIONS = "/admin/allocation/transaction/"


@pytest.fixture
def instance(db):
    Atributo().available("web-1")
    return "web-1"


def press(client, path, action, *rows, **fields):
    """Tick rows, press the button and follow the redirect."""
    form = {"index": "0", "action": action, "_selected_action": [str(row) for row in rows]}
    return client.post(path, {**form, **fields}, follow=True)


def confirm(client, path, action, *rows, **fields):
    """Answer the question that the button leads to."""
    asked = press(client, path, action, *rows).text
    assert f'name="action" value="{action}"' in asked and 'name="confirmed"' in asked
    form = {"action": action, "confirmed": "yes", "_selected_action": [str(row) for row in rows]}
    return client.post(path, {**form, **fields}, follow=True)


def kinds():
    return list(Event.objects.order_by("pk").values_list("kind", flat=True))


def test_instances_become_unavailable_drain_and_are_restored(instance, client_as):
    client = client_as("operator")
    confirm(client, INSTANCES, "unavailable", instance, reason="kernel")
    assert Instance.objects.get().reason == "kernel"
    press(client, INSTANCES, "available", instance)
    assert Instance.objects.get().available
    confirm(client, INSTANCES, "drain", instance, moves_per_minute="6")
    assert Instance.objects.get().drain.moves_per_minute == 6
    press(client, INSTANCES, "restore", instance)
    assert Instance.objects.get().available
    assert kinds()[-3:] == ["instance.available", "instance.draining", "instance.restored"]


def test_the_question_says_what_happens_to_which_rows(instance, client_as):
    page = press(client_as("operator"), INSTANCES, "drain", instance).text
    assert "<h1>Drain 1 instance?</h1>" in page and "<li>web-1</li>" in page
    assert "They get no new keys" in page and ">Drain</button>" in page


def test_a_wrong_number_is_said_and_nothing_begins(instance, client_as):
    answer = confirm(client_as("operator"), INSTANCES, "drain", instance, moves_per_minute="1_0")
    assert answer.status_code == 400 and "Enter a whole number" in answer.text
    assert Instance.objects.get().available


def test_queues_are_paused_resumed_and_scaled_each_with_its_own_permission(client_as):
    first, second = make_queue("a").pk, make_queue("b").pk
    operator, admin = client_as("operator"), client_as("admin")
    assert "done for 2 queues" in press(operator, QUEUES, "pause", first, second).text
    assert "a: nothing to do" in press(operator, QUEUES, "pause", first).text
    press(operator, QUEUES, "resume", first)
    assert [queue.paused_at is None for queue in Queue.objects.filter(name__in="ab")] == [
        True,
        False,
    ]
    press(operator, QUEUES, "scale", first, confirmed="yes", max_workers="7")
    assert Queue.objects.get(name="a").max_workers == 2
    confirm(admin, QUEUES, "scale", first, max_workers="7")
    assert Queue.objects.get(name="a").max_workers == 7


def test_jobs_are_retried_and_aborted_and_refusals_are_told(client_as):
    queue = make_queue()
    failed, waiting = make_job(queue, "failed"), make_job(queue)
    running = make_job(queue, "progress")
    client = client_as("operator")
    answer = confirm(client, JOBS, "retry", failed.pk, running.pk).text
    assert "done for 1 queued job." in answer and f"job {running.pk} is running" in answer
    confirm(client, JOBS, "abort", waiting.pk, reason="not needed")
    assert QueuedJob.objects.get(pk=waiting.pk).aborted_at is not None
    assert Event.objects.get(kind="job.aborted").facts["reason"] == "not needed"


def test_locks_and_transactions_need_a_reason_and_an_administrator(client_as):
    txn = open_transaction(Client())
    txn.put("accounts", "ada", {})
    lock, admin = Lock.objects.get().pk, client_as("admin")
    assert client_as("operator").post(LOCKS, {"action": "release"}).status_code == 403
    refused = confirm(admin, LOCKS, "release", lock)
    assert refused.status_code == 400 and Lock.objects.exists()
    confirm(admin, LOCKS, "release", lock, reason="stale")
    assert not Lock.objects.exists()
    other = open_transaction(Client())
    press(client_as("operator"), TRANSACTIONS, "roll_back", other.id, confirmed="y", reason="no")
    assert Transaction.objects.get(pk=other.id).finished_at is None
    confirm(admin, TRANSACTIONS, "complete", other.id, reason="checked")
    again = confirm(admin, TRANSACTIONS, "roll_back", other.id, reason="late")
    assert "nothing was changed" in again.text


def test_only_ticked_rows_are_changed(instance, client_as):
    client = client_as("operator")
    assert "Items must be selected" in press(client, INSTANCES, "available").text
    wide = press(client, INSTANCES, "available", instance, select_across="1")
    assert wide.status_code == 400 and "Select the rows" in wide.text


def test_a_viewer_is_offered_nothing_and_may_do_nothing(instance, client_as):
    viewer = client_as("viewer")
    for path in (INSTANCES, QUEUES, JOBS, LOCKS, TRANSACTIONS):
        assert 'name="action"' not in viewer.get(path).text
        assert press(viewer, path, "pause", "1").status_code == 403


def test_actions_belong_to_the_list_where_django_asks_for_them_by_place(rf, user_as):
    request = rf.get(INSTANCES)
    request.user = user_as("operator")
    of_list = SimpleNamespace(name="CHANGE_LIST")
    instances = admin.site._registry[Instance]
    assert instances.get_actions(request, action_location=of_list)
    of_row = SimpleNamespace(name="CHANGE_FORM")
    assert instances.get_actions(request, action_location=of_row) == {}


def test_fields_that_people_may_edit_are_stored_by_their_operations(instance, client_as):
    queue, admin = make_queue(), client_as("admin")
    form = {"max_workers": "3", "target_age_seconds": "", "retention_days": "9"}
    form |= {"when_away": queue.when_away, "away_seconds": "77"}
    admin.post(f"{QUEUES}{queue.pk}/change/", form)
    queue.refresh_from_db()
    assert (queue.max_workers, queue.retention_days, queue.away_seconds) == (3, 9, 77)
    admin.post(f"{INSTANCES}web-1/change/", {"weight": "5", "capacity": ""})
    assert Instance.objects.get().weight == 5
    assert kinds().count("instance.changed") == 1


@pytest.mark.parametrize("weight", ["0", "1_0", "x", "99999999999"])
def test_a_bad_field_changes_nothing(instance, client_as, weight):
    answer = client_as("operator").post(
        f"{INSTANCES}web-1/change/", {"weight": weight, "capacity": "3"}, follow=True
    )
    assert answer.status_code == 200 and Instance.objects.get().weight == 1
    assert Instance.objects.get().capacity is None


def test_a_queue_that_was_deleted_meanwhile_stays_deleted(client_as):
    queue, admin = make_queue(), client_as("admin")
    Queue.objects.filter(pk=queue.pk).update(deleted_at=queue.created_at)
    answer = confirm(admin, QUEUES, "scale", queue.pk, max_workers="7")
    assert "Queue does not exist" in answer.text
    assert Queue.objects.get(pk=queue.pk).deleted_at is not None
