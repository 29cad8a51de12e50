"""A debounced push replaces the waiting job of its unique key; a key cancels its job."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command

from atributo_site.core.models import Event
from queues.errors import BadPush, DataRefused, JobIsTwice
from queues.models import QueuedJob
from queues.runs import outbox
from queues.runs.reservation import reserve
from queues.runs.slots import acquire

MINUTE_MS = 60_000
JSON = "application/json"


@pytest.fixture
def bounce(queue, act):
    """bounce(data, …) → the id that a debounced push with the key "k" returns."""
    return lambda data=None, **options: queue.push(
        act, data, unique_key="k", debounce=True, **options
    )


def test_it_replaces_data_and_moves_the_moment(bounce, queue):
    first = bounce({"n": 1}, delay=MINUTE_MS)
    before = queue.get(first).delay_until
    assert bounce({"n": 2}, delay=2 * MINUTE_MS) == first
    job = queue.get(first)
    assert (job.data, queue.all()) == ({"n": 2}, [first])
    assert job.delay_until - before >= timedelta(milliseconds=MINUTE_MS)


def test_failures_of_the_old_data_are_forgiven(bounce, queue):
    first = bounce(1, delay=MINUTE_MS)
    QueuedJob.objects.filter(pk=first).update(run_failures=2, attempt=2)
    bounce(2, delay=MINUTE_MS)
    assert queue.get(first).run_failures == 0


def test_a_job_that_is_about_to_run_keeps_its_data_and_loses_its_key(bounce, queue, hands):
    first = bounce({"result": 1})
    slot = acquire(queue.name, 0, "hands")
    reserve(slot, 1)
    second = bounce({"result": 2}, delay=MINUTE_MS)
    third = bounce({"result": 3})
    assert (second != first, third) == (True, second)
    slot.leave()
    hands.drain()
    assert [queue.get(each).result for each in (first, second)] == [1, 3]


def test_without_a_key_it_is_refused(queue, act):
    with pytest.raises(BadPush, match="debounce needs a unique_key"):
        queue.push(act, debounce=True)
    assert queue.all() == []


def test_data_that_does_not_fit_replaces_nothing(queue, probe):
    checked = {"mount": probe, "name": "checked"}
    first = queue.push(checked, {"n": 1}, unique_key="k", delay=MINUTE_MS)
    with pytest.raises(DataRefused):
        queue.push(checked, {"n": "x"}, unique_key="k", debounce=True)
    assert queue.get(first).data == {"n": 1}


def test_a_job_of_another_script_is_not_replaced(bounce, queue, probe):
    other = queue.push({"mount": probe, "name": "called"}, 1, unique_key="k", delay=MINUTE_MS)
    with pytest.raises(JobIsTwice, match="same script"):
        bounce(2)
    assert (queue.get(other).data, queue.all()) == (1, [other])


def test_it_cannot_wait_for_a_transaction(bounce, queue):
    with outbox.holding(1), pytest.raises(BadPush, match="cannot wait for a transaction"):
        bounce(1)
    assert queue.all() == []


def test_over_rest_it_leaves_an_event(queue, rest_as):
    body = {"script": {"mount": "/probe", "name": "act"}, "unique_key": "k", "delay": MINUTE_MS}
    url = "/api/v1/queues/work/jobs"
    first = rest_as("operator").post(url, body, JSON).json()["id"]
    again = {**body, "data": 2, "debounce": True}
    assert rest_as("operator").post(url, again, JSON).json()["id"] == first
    assert Event.objects.filter(kind="job.debounced", subject=f"job:{first}").count() == 1


def test_the_command_replaces_it_too(queue, capsys):
    options = ["work", "/probe", "act", "--unique-key", "k", "--delay", "5m"]
    call_command("push", *options, "--data", "1")
    call_command("push", *options, "--data", "2", "--debounce")
    first, second = capsys.readouterr().out.split()
    assert (first, queue.get(first).data) == (second, 2)


def test_a_key_cancels_its_job(queue, act):
    job = queue.push(act, unique_key="k", delay=MINUTE_MS)
    assert queue.cancel("k", reason="wrong address") == job
    assert queue.get(job).failures == ["Job aborted."]
    assert queue.cancel("k") is None


def test_a_cancel_names_its_key(queue):
    with pytest.raises(BadPush, match="give the unique_key"):
        queue.cancel("")


def test_rest_and_command_cancel_by_key(queue, act, rest_as, capsys):
    first = queue.push(act, unique_key="k", delay=MINUTE_MS)
    url = "/api/v1/queues/work/jobs/cancel"
    assert rest_as("operator").post(url, {"unique_key": "k"}, JSON).json() == {"id": first}
    assert rest_as("operator").post(url, {"unique_key": "k"}, JSON).json() == {"id": None}
    assert rest_as("viewer").post(url, {"unique_key": "k"}, JSON).status_code == 403
    second = queue.push(act, unique_key="k", delay=MINUTE_MS)
    call_command("queued_jobs", "cancel", "work", "k", "--json")
    assert json.loads(capsys.readouterr().out) == {"id": second}
