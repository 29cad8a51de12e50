"""What happens to a run that meets the one before it, and to a schedule that fails."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues import schedules
from queues.models import QueuedJob, Schedule
from tests.queues.schedules.conftest import states


@pytest.fixture
def three_runs(make, expect):
    """Three runs that are due one after the other, while the first is unfinished."""

    def run(overlap):
        schedule = make(overlap=overlap)
        for seconds in (30, 20, 10):
            expect(schedule, seconds)
        return schedule

    return run


@pytest.mark.parametrize(
    "overlap, expected",
    [
        ("skip", ["pushed", "skipped", "skipped"]),
        ("queue_one", ["pushed", "waiting", "skipped"]),
        ("queue_all", ["pushed", "waiting", "waiting"]),
        ("beside", ["pushed", "pushed", "pushed"]),
    ],
)
def test_a_run_that_meets_an_unfinished_one(three_runs, overlap, expected):
    assert states(three_runs(overlap)) == expected


def test_waiting_runs_follow_one_after_the_other(three_runs, hands, go_on):
    schedule = three_runs("queue_all")
    go_on()
    assert QueuedJob.objects.count() == 1
    for number in (2, 3):
        hands.drain()
        go_on()
        assert QueuedJob.objects.count() == number
    hands.drain()
    go_on()
    assert states(schedule) == ["complete"] * 3


def test_the_older_run_is_cancelled(three_runs, go_on):
    schedule = three_runs("cancel")
    go_on()
    go_on()
    assert states(schedule) == ["aborted", "aborted", "pushed"]
    assert QueuedJob.objects.unfinished().count() == 1
    assert Event.objects.filter(kind="job.aborted").count() == 2


def test_an_ended_run_is_noticed_before_the_next_one_is_decided(make, expect, hands):
    schedule = make(overlap="skip")
    expect(schedule, 20)
    hands.drain()
    expect(schedule, 10)
    assert states(schedule) == ["complete", "pushed"]
    run = schedule.expected_runs.earliest("slot_at")
    assert run.started_at is not None and run.ended_at is not None


def test_failures_in_a_row_pause_the_schedule(make, expect, hands, go_on):
    schedule = make(data={"raise": "no"}, pause_after_failures=2)
    for seconds in (20, 10):
        expect(schedule, seconds)
        _end("failed")
        go_on()
    schedule.refresh_from_db()
    assert states(schedule) == ["failed", "failed"]
    assert (schedule.state, schedule.pause_reason) == ("paused", "2 failed runs in a row")
    schedules.resume("nightly")
    schedule.refresh_from_db()
    assert (schedule.state, schedule.failures) == ("active", 0)


def test_a_success_between_failures_starts_the_count_again(make, expect, go_on):
    schedule = make(pause_after_failures=2)
    for seconds, status in ((30, "failed"), (20, "complete"), (10, "failed")):
        expect(schedule, seconds)
        _end(status)
        go_on()
    schedule.refresh_from_db()
    assert (schedule.state, schedule.failures) == ("active", 1)


def _end(status):
    QueuedJob.objects.unfinished().update(status=status, started_at=Now(), ended_at=Now())


def test_a_deleted_job_does_not_hold_its_schedule(make, expect, go_on):
    schedule = make(overlap="skip")
    expect(schedule, 20)
    QueuedJob.objects.all().delete()
    expect(schedule, 10)
    assert states(schedule) == ["aborted", "pushed"]


def test_a_pause_until_a_moment_ends_by_itself(make, go_on):
    schedule = make()
    schedules.pause("nightly", until=database_now() + timedelta(hours=1))
    go_on()
    schedule.refresh_from_db()
    assert schedule.state == "paused"
    Schedule.objects.update(paused_until=database_now() - timedelta(seconds=1))
    go_on()
    schedule.refresh_from_db()
    assert schedule.state == "active"
    assert schedule.next_at > database_now()


def test_run_now_is_a_run_beside_the_rule(make, hands, go_on):
    schedule = make()
    job_id = schedules.run_now("nightly")
    hands.drain()
    go_on()
    schedule.refresh_from_db()
    run = schedule.expected_runs.get()
    assert (run.kind, run.state, str(run.job_id)) == ("manual", "complete", job_id)
    assert schedule.runs == 0
