"""The schedule of a job that repeats is changed while it waits, by every door."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues.errors import BadSchedule, JobIsRunning, JobNotFound, JobRepeatsNot
from queues.jobs import actions
from queues.jobs.repeating import reschedule
from queues.maintenance.invariants import repeated_too_often
from queues.models import QueuedJob
from queues.runs.outcomes import record_start
from queues.runs.reservation import reserve
from queues.runs.slots import acquire

HOUR_MS = 3_600_000
HOUR = timedelta(hours=1)


@pytest.fixture
def job(queue, act):
    """Due now, and again every hour for ever."""
    return queue.get(queue.push(act, repeat_times=-1, repeat_delay=HOUR_MS))


@pytest.fixture
def ran(job, hands):
    hands.drain()
    return job


def row(job):
    return QueuedJob.objects.get(pk=job.id)


def test_what_is_given_changes_and_the_rest_stays(ran):
    until = database_now() + 5 * HOUR
    assert ran.reschedule(repeat_times=7, repeat_until=until)
    found = row(ran)
    assert (found.repeat_times, found.repeat_until) == (7, until)
    assert found.repeat_delay_ms == HOUR_MS
    assert ran.reschedule(repeat_until=None)
    assert row(ran).repeat_until is None


@pytest.mark.parametrize("new", [timedelta(hours=3), timedelta(minutes=10)])
def test_the_next_run_is_counted_from_the_last_one(ran, new):
    last = row(ran).due_at - HOUR
    ran.reschedule(repeat_delay=new)
    assert row(ran).due_at == last + new


def test_a_shorter_rhythm_makes_nothing_up(ran):
    QueuedJob.objects.filter(pk=ran.id).update(due_at=database_now() + timedelta(minutes=15))
    last = row(ran).due_at - HOUR
    ran.reschedule(repeat_delay=timedelta(minutes=20))
    assert row(ran).due_at == last + HOUR


def test_a_first_run_keeps_its_moment(queue, act):
    job = queue.get(queue.push(act, delay=HOUR_MS, repeat_times=3, repeat_delay=HOUR_MS))
    due_at = row(job).due_at
    job.reschedule(repeat_delay=5000)
    assert row(job).due_at == due_at


def test_a_retry_and_what_is_due_keep_their_moments(ran):
    for columns in ({"due_at": database_now() - HOUR}, {"run_failures": 1}, {"lost": 1}):
        QueuedJob.objects.filter(pk=ran.id).update(**columns)
        due_at = row(ran).due_at
        ran.reschedule(repeat_delay=row(ran).repeat_delay_ms + 1)
        assert row(ran).due_at == due_at


def test_the_event_has_before_and_after(ran):
    ran.reschedule(repeat_delay=5000, repeat_times=-1, repeat_until=None)
    facts = Event.objects.get(kind="job.rescheduled", subject=f"job:{ran.id}").facts
    assert facts == {"before": {"repeat_delay": HOUR_MS}, "after": {"repeat_delay": 5000}}


def test_twice_is_once(ran):
    assert [ran.reschedule(repeat_delay=5000) for _ in range(2)] == [True, False]
    assert Event.objects.filter(kind="job.rescheduled").count() == 1


def test_a_paused_job_may_be_changed_and_stays_paused(ran):
    actions.pause(int(ran.id))
    assert ran.reschedule(repeat_delay=5000)
    assert row(ran).paused and row(ran).repeat_delay_ms == 5000


def test_it_runs_by_its_new_schedule_and_ends(ran, hands, pass_time):
    ran.reschedule(repeat_times=1)
    pass_time()
    hands.drain()
    assert (ran.status, ran.runs) == ("complete", 2)
    assert repeated_too_often(QueuedJob.objects.all()) == []


def test_a_run_that_is_reserved_or_under_way_is_not_changed(job, queue):
    slot = acquire(queue.name, 0, "hands")
    held = reserve(slot, 1).jobs[0]
    for begin in (lambda: None, lambda: record_start(slot, held, "hands", 0.0)):
        begin()
        with pytest.raises(JobIsRunning):
            job.reschedule(repeat_delay=5000)
    assert row(job).repeat_delay_ms == HOUR_MS


def test_what_does_not_repeat_or_is_over_has_no_schedule(job, queue, act):
    job.abort()
    for job_id in (job.id, queue.push(act)):
        with pytest.raises(JobRepeatsNot):
            reschedule(int(job_id), {"repeat_delay": 5000})
    with pytest.raises(JobNotFound):
        reschedule(1, {"repeat_delay": 5000})


@pytest.mark.parametrize(
    "changes",
    [
        {"repeat_times": 0},
        {"repeat_times": 1.5},
        {"repeat_delay": -1},
        {"repeat_delay": None},
        {"repeat_delay": "5m"},
        {"repeat_until": "tomorrow"},
        {"priority": 1},
    ],
)
def test_a_schedule_that_cannot_be_changes_nothing(job, changes):
    with pytest.raises(BadSchedule):
        job.reschedule(**{"repeat_delay": 5000, **changes})
    assert row(job).repeat_delay_ms == HOUR_MS


def test_no_fewer_runs_than_there_were_and_no_end_that_is_over(job, hands, pass_time):
    for _ in range(3):
        hands.drain()
        pass_time()
    with pytest.raises(BadSchedule, match="at least 3"):
        job.reschedule(repeat_times=2)
    with pytest.raises(BadSchedule, match="over already"):
        job.reschedule(repeat_until=database_now() - HOUR)
    assert job.reschedule(repeat_times=3)


def test_rest_changes_it_or_says_why_not(ran, rest_as):
    client, url = rest_as("operator"), f"/api/v1/jobs/{ran.id}"
    changed = client.patch(url, {"repeat_delay": 5000}, "application/json")
    assert (changed.status_code, changed.json()["repeat_delay"]) == (200, 5000)
    for body in ({}, {"repeat_every": 5}, {"repeat_times": 0}, {"repeat_delay": "5m"}):
        assert client.patch(url, body, "application/json").status_code == 400
    ran.abort()
    late = client.patch(url, {"repeat_delay": 1}, "application/json")
    assert (late.status_code, late.json()["code"]) == (409, "job_repeats_not")
    viewer = rest_as("viewer").patch(url, {"repeat_delay": 1}, "application/json")
    assert viewer.status_code == 403


def test_the_command_changes_it(ran, capsys):
    end = ("--repeat-times", "9", "--repeat-until", "2090-01-31T12:00")
    call_command("queued_jobs", "reschedule", ran.id, "--repeat-delay", "1m30s", *end)
    assert capsys.readouterr().out == f"{ran.id} has a new schedule\n"
    assert (ran.repeat_delay, ran.repeat_times, ran.repeat_until.year) == (90_000, 9, 2090)
    call_command("queued_jobs", "reschedule", ran.id, "--repeat-until", "never", "--json")
    assert json.loads(capsys.readouterr().out) == [{"id": ran.id, "changed": True}]
    assert ran.repeat_until is None
    with pytest.raises(CommandError, match="--repeat-delay"):
        call_command("queued_jobs", "reschedule", ran.id)
