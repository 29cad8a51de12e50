"""A batch ends once, when its last job has ended, and calls back once."""

import threading

import pytest
from django.db import connection, connections
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext

import queues
from atributo_site.core.models import Event
from queues.errors import BadBatch, BadPush, BatchIsClosed, BatchNotFound, JobIsTwice, QueueNotFound
from queues.jobs import actions
from queues.jobs.handles import QueueHandle, get_batch
from queues.links import settling
from queues.maintenance.links import unended_batches
from queues.models import Batch, Dependency, QueuedJob
from queues.runs import outcomes


@pytest.fixture
def batch(queue, act, called):
    """A batch of three jobs that wait."""
    with queue.batch("three", done=called, failed=called) as block:
        block.push_many(act, [1, 2, 3])
    return get_batch(block.id)


def test_it_calls_back_when_all_are_complete(batch, crew, callbacks):
    assert (batch.state, batch.counts["waiting"], batch.counts["total"]) == ("running", 3, 3)
    slot, results = crew.begin(count=2)
    crew.end(slot, results)
    assert (batch.state, callbacks(batch)) == ("running", [])
    slot, results = crew.begin()
    crew.end(slot, results)
    assert (batch.state, batch.counts["complete"]) == ("complete", 3)
    [callback] = callbacks(batch)
    assert callback.data[0] == {
        "id": batch.id,
        "name": "three",
        "state": "complete",
        "complete": 3,
        "failed": 0,
        "failed_jobs": [],
        "restarts": 0,
    }
    assert batch.callback == str(callback.pk)
    assert Event.objects.filter(kind="batch.complete", subject=f"batch:{batch.id}").count() == 1


def test_one_failed_job_makes_it_failed(batch, crew, callbacks):
    first = str(QueuedJob.objects.filter(batch=batch.id).order_by("pk")[0].pk)
    crew.drain(failing=[first])
    assert (batch.state, batch.counts["failed"]) == ("failed", 1)
    [callback] = callbacks(batch)
    assert callback.data[0]["failed_jobs"] == [first]


def test_without_callbacks_it_just_ends(queue, act, crew, callbacks):
    with queue.batch() as block:
        block.push(act)
    crew.drain()
    assert (get_batch(block.id).state, callbacks(block)) == ("complete", [])


def test_the_callback_runs_as_a_job_of_the_queue(queue, act, called, hands):
    with queue.batch(done={"mount": act["mount"], "name": "act"}) as block:
        block.push(act, {"result": 7})
    hands.drain()
    callback = queue.get(get_batch(block.id).callback or "")
    assert callback.status == "complete"
    assert callback.result[0]["complete"] == 1


def test_an_empty_batch_is_complete_at_once(queue, called, callbacks):
    with queue.batch(done=called) as block:
        pass
    assert get_batch(block.id).state == "complete"
    assert len(callbacks(block)) == 1


def test_an_error_in_the_block_leaves_nothing(queue, act):
    with pytest.raises(RuntimeError), queue.batch() as block:
        block.push(act)
        queues.get("work").push(act, batch=block)
        raise RuntimeError
    assert not QueuedJob.objects.exists()
    assert not Batch.objects.exists()
    with pytest.raises(BatchIsClosed):
        block.push(act)


def test_a_transaction_that_rolls_back_leaves_nothing(queue, act):
    with pytest.raises(RuntimeError), atomic():
        with queue.batch() as block:
            block.push(act, after=[block.push(act)])
        raise RuntimeError
    assert not QueuedJob.objects.exists()
    assert not Batch.objects.exists()
    assert not Dependency.objects.exists()


def test_jobs_of_other_queues_belong_to_it(queue, act, crew):
    other = queues.create("other")
    with queue.batch() as block:
        block.push(act)
        job_id = other.push(act, batch=block)
    crew.drain()
    assert get_batch(block.id).state == "running"
    other.get(job_id).abort()
    assert get_batch(block.id).state == "failed"


def test_jobs_of_a_block_wait_for_each_other_by_label(queue, act, crew):
    with queue.batch() as block:
        last = block.push(act, after=["middle"])
        middle = block.push(act, label="middle", after=["first"])
        first = block.push(act, label="first")
    assert crew.drain() == [first, middle, last]
    assert get_batch(block.id).state == "complete"


def test_a_circle_is_refused_by_its_labels(queue, act):
    with pytest.raises(BadBatch, match="a after b after a"), queue.batch() as block:
        block.push(act, label="a", after=["b"])
        block.push(act, label="b", after=["a"])
    assert not QueuedJob.objects.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"after": ["nobody"]}, "'nobody', which is neither a job nor a label here"),
        ({"after": ["77"]}, "job 77, which does not exist"),
        ({"after": "a"}, "after must be a list"),
        ({"label": ""}, "label must be a text"),
        ({"repeat_times": -1}, "repeats without an end cannot belong to a batch"),
    ],
)
def test_bad_pushes_are_refused_and_nothing_is_stored(queue, act, options, sentence):
    with pytest.raises(BadPush, match=sentence), queue.batch() as block:
        block.push(act)
        block.push(act, **options)
    assert not QueuedJob.objects.exists()


def test_two_jobs_cannot_have_one_label(queue, act):
    with pytest.raises(BadPush, match="two jobs"), queue.batch() as block:
        block.push(act, label="a")
        block.push(act, label="a")


def test_a_unique_key_that_is_taken_refuses_the_whole_block(queue, act):
    queue.push(act, unique_key="k")
    with pytest.raises(JobIsTwice), queue.batch() as block:
        block.push(act)
        block.push(act, unique_key="k")
    assert QueuedJob.objects.count() == 1


def test_unknown_queues_callbacks_and_batches_are_refused(queue, act):
    with pytest.raises(QueueNotFound):
        QueueHandle("nowhere").batch()
    with pytest.raises(BadPush, match="done"):
        queue.batch(done="not a script")
    with pytest.raises(BadBatch):
        queue.batch("x" * 256)
    with pytest.raises(BatchNotFound):
        get_batch("77")
    with pytest.raises(BatchNotFound):
        queue.push(act, batch="77")


def test_jobs_of_an_open_batch_start_at_once_and_it_ends_when_it_is_closed(
    queue, act, called, crew, callbacks
):
    batch = queue.open_batch("streamed", done=called)
    batch.push(act)
    crew.drain()
    assert (batch.state, callbacks(batch)) == ("open", [])
    assert batch.close()
    assert (batch.state, len(callbacks(batch))) == ("complete", 1)
    assert not batch.close()
    with pytest.raises(BatchIsClosed):
        batch.push(act)
    with pytest.raises(BatchIsClosed):
        batch.push_many(act, [1, 2])
    assert len(callbacks(batch)) == 1


def test_the_failed_ones_are_retried_and_it_calls_back_anew(batch, crew, callbacks):
    ids = [str(pk) for pk in QueuedJob.objects.filter(batch=batch.id).values_list("pk", flat=True)]
    crew.drain(failing=ids[:2])
    assert batch.retry_failed() == 2
    assert (batch.state, batch.counts["waiting"]) == ("running", 2)
    crew.drain()
    assert (batch.state, batch.counts["complete"]) == ("complete", 3)
    assert [each.data[0]["state"] for each in callbacks(batch)] == ["failed", "complete"]


def test_retried_jobs_wait_for_each_other_again(queue, act, crew):
    with queue.batch() as block:
        last = block.push(act, after=["first"])
        first = block.push(act, label="first")
    crew.drain(failing=[first])
    assert get_batch(block.id).retry_failed() == 2
    assert crew.drain() == [first, last]


def test_a_job_that_is_started_over_reopens_its_batch(batch, crew):
    crew.drain()
    job_id = QueuedJob.objects.filter(batch=batch.id)[0].pk
    actions.reset(job_id)
    assert batch.state == "running"
    crew.drain()
    assert batch.state == "complete"


def test_the_rest_is_aborted(batch, crew, callbacks):
    slot, results = crew.begin()
    crew.end(slot, results)
    assert batch.abort("wrong input") == 2
    assert (batch.state, batch.counts["aborted"]) == ("failed", 2)
    assert len(callbacks(batch)) == 1
    event = Event.objects.get(kind="batch.aborted", subject=f"batch:{batch.id}")
    assert event.facts == {"count": 2, "reason": "wrong input"}


def test_aborting_an_open_batch_closes_it(queue, act):
    batch = queue.open_batch()
    batch.push(act)
    batch.abort()
    assert batch.state == "failed"


def test_deleting_its_last_job_ends_it(batch, crew):
    slot, results = crew.begin(count=2)
    crew.end(slot, results)
    actions.delete(QueuedJob.objects.unfinished().get().pk)
    assert batch.state == "failed"


def test_the_curator_ends_what_a_crash_left(batch, crew, mend, callbacks, monkeypatch):
    """The worker dies after the commit of the last end and before it looks at the batch."""
    with monkeypatch.context() as patch:
        patch.setattr("queues.runs.callbacks.tell_of_ends", lambda ids: None)
        crew.drain()
    assert (batch.state, callbacks(batch)) == ("running", [])
    Batch.objects.update(closed_at="2020-01-01T00:00Z")
    assert unended_batches() == [f"batch {batch.id}"]
    assert mend() == 1
    assert (batch.state, len(callbacks(batch))) == ("complete", 1)
    assert mend() == 0
    assert len(callbacks(batch)) == 1


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_last_jobs_that_end_at_once_call_back_once(queue, act, called, crew, callbacks, order):
    """Both ends are committed before either side looks at the batch."""
    with queue.batch(done=called) as block:
        block.push_many(act, [1, 2])
    held = [crew.begin(number) for number in range(2)]
    committed = threading.Barrier(2)
    settle = settling.settle

    def meet(ids):
        committed.wait(60)
        return settle(ids)

    def end(number):
        try:
            crew.end(*held[number])
        finally:
            connections.close_all()

    threads = [threading.Thread(target=end, args=[number]) for number in order]
    settling.settle = meet
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    finally:
        settling.settle = settle
    assert get_batch(block.id).state == "complete"
    assert len(callbacks(block)) == 1


def test_two_hundred_jobs_call_back_once(queue, act, called, crew, callbacks):
    with queue.batch(done=called) as block:
        ids = block.push_many(act, list(range(200)))
    assert crew.drain(count=20)[:200] == ids
    assert len(callbacks(block)) == 1


def test_old_jobs_of_a_running_batch_are_kept(batch, crew, sweep):
    slot, results = crew.begin(count=2)
    crew.end(slot, results)
    QueuedJob.objects.filter(status="complete").update(ended_at="2020-01-01T00:00Z")
    sweep()
    assert batch.counts["total"] == 3
    crew.drain()
    QueuedJob.objects.update(ended_at="2020-01-01T00:00Z")
    Batch.objects.update(ended_at="2020-01-01T00:00Z")
    sweep()
    assert not QueuedJob.objects.filter(batch__isnull=False).exists()
    sweep()
    assert not Batch.objects.exists()


def test_jobs_without_links_cost_no_further_statement(queue, act, crew):
    """A finish on PostgreSQL is one statement; on SQLite four, with their begin and end."""
    queue.push_many(act, [1, 2])
    crew.end(*crew.begin())  # which prepares the statements
    slot, results = crew.begin()
    with CaptureQueriesContext(connection) as seen:
        outcomes.record(slot, results, "crew")
    asked = [each["sql"] for each in seen.captured_queries]
    assert not [sql for sql in asked if "queues_dependency" in sql or "queues_batch" in sql]
    assert len(asked) == (1 if connection.vendor == "postgresql" else 6)
