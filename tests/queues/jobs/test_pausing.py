"""A job that repeats is paused and goes on: nothing starts meanwhile, and its rhythm stays."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError

from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.errors import JobNotFound, JobRepeatsNot
from queues.jobs import actions, bulk
from queues.logic.lifecycle import Outcome
from queues.models import Queue, QueuedJob
from queues.queries.backlog import with_depth
from queues.runs import held_jobs
from queues.runs.outcome_rows import AttemptResult
from queues.runs.outcomes import record, record_start
from queues.runs.reservation import reserve
from queues.runs.slots import acquire

HOUR_MS = 3_600_000


@pytest.fixture
def job(queue, act):
    """Due now, and again every hour for ever."""
    return queue.get(queue.push(act, repeat_times=-1, repeat_delay=HOUR_MS))


def row(job):
    return QueuedJob.objects.get(pk=job.id)


def test_a_paused_job_does_not_start_until_it_is_resumed(job, hands, pass_time):
    assert actions.pause(int(job.id), reason="month's end")
    hands.drain()
    assert (job.status, job.runs) == ("pending", 0)
    assert not with_depth(Queue.objects.filter(pk=row(job).queue_id)).get().due
    assert actions.resume(int(job.id))
    pass_time()
    hands.drain()
    assert job.runs == 1


def test_it_goes_on_with_the_next_moment_of_its_rhythm(job):
    before = database_now() - timedelta(minutes=150)
    QueuedJob.objects.filter(pk=job.id).update(due_at=before)
    actions.pause(int(job.id))
    actions.resume(int(job.id))
    assert row(job).due_at == before + timedelta(hours=3)


def test_a_run_that_is_under_way_ends_and_the_next_one_waits(job, hands, queue, pass_time):
    slot = acquire(queue.name, 0, "hands")
    batch = reserve(slot, 1)
    record_start(slot, batch.jobs[0], "hands", 0.0)
    actions.pause(int(job.id))
    record(slot, [AttemptResult(batch.jobs[0], Outcome.COMPLETE, batch.now, batch.now)], "hands")
    slot.release()
    pass_time()
    hands.drain()
    assert (job.status, job.runs) == ("pending", 1)


def test_a_job_that_its_worker_gives_back_stays_paused(job, queue, monkeypatch):
    monkeypatch.setattr(held_jobs, "PATIENCE_SECONDS", 0.0)
    slot = acquire(queue.name, 0, "slow")
    reserve(slot, 1)
    actions.pause(int(job.id))
    slot.give_back()
    assert (row(job).slot_id, job.status, reserve(slot, 1)) == (None, "pending", None)


def test_twice_is_once(job):
    assert [actions.pause(int(job.id)) for _ in range(2)] == [True, False]
    assert [actions.resume(int(job.id)) for _ in range(2)] == [True, False]
    kinds = Event.objects.filter(subject=f"job:{job.id}").values_list("kind", flat=True)
    assert sorted(kinds) == ["job.paused", "job.resumed"]


def test_a_paused_job_is_not_run_now_but_can_be_aborted(job):
    actions.pause(int(job.id))
    assert not actions.run_now(int(job.id))
    assert actions.abort(int(job.id))


@pytest.mark.parametrize("again", [actions.reset, lambda pk: bulk.do("retry", [pk])])
def test_one_that_ended_while_it_was_paused_runs_again_when_told(job, hands, again):
    actions.pause(int(job.id), reason="month's end")
    job.abort()
    again(int(job.id))
    assert (row(job).paused, row(job).pause_reason, row(job).priority) == (False, "", 0)
    hands.drain()
    assert job.runs == 1


def test_only_what_repeats_can_be_paused(queue, act):
    with pytest.raises(JobRepeatsNot):
        actions.pause(int(queue.push(act)))
    with pytest.raises(JobNotFound):
        actions.resume(1)


def test_the_database_knows_no_paused_job_that_would_start(job):
    with pytest.raises(IntegrityError):
        QueuedJob.objects.filter(pk=job.id).update(paused_at=database_now())


def test_a_sticky_job_says_that_it_is_paused(queue, act, rest_as):
    job_id = queue.push(act, repeat_times=-1, repeat_delay=HOUR_MS, sticky_key="ada")
    client, url = rest_as("operator"), f"/api/v1/jobs/{job_id}"
    said = client.post(f"{url}/pause", {"reason": "ill"}, "application/json").json()
    assert (said["paused"], said["pause_reason"]) == (True, "ill")
    assert said["waits_for"] == "It is paused."
    assert not client.post(f"{url}/resume", {}, "application/json").json()["paused"]


def test_a_viewer_pauses_nothing(job, rest_as):
    assert rest_as("viewer").post(f"/api/v1/jobs/{job.id}/pause").status_code == 403


def test_the_command_pauses_and_resumes(job, capsys):
    call_command("queued_jobs", "pause", job.id, "--reason", "month's end")
    assert capsys.readouterr().out == f"{job.id} paused\n"
    call_command("queued_jobs", "show", job.id, "--json")
    assert json.loads(capsys.readouterr().out)[0]["pause_reason"] == "month's end"
    call_command("queued_jobs", "resume", job.id)
    assert not row(job).paused
