"""Due schedules become jobs, each slot exactly once, by the database's clock."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext

from atributo_site.core.errors import LeaseLost
from atributo_site.core.models import Event, Lease
from atributo_site.core.models.clock import database_now
from queues.models import QueuedJob, Schedule, ScheduledRun
from queues.runs.ids import get_job_ids
from queues.schedules.dispatch import FAR, dispatch, dispatch_batch, seconds_to_next
from queues.schedules.pushing import expected
from tests.queues.schedules.conftest import states

HOUR = timedelta(hours=1)


def a_second_ago():
    return database_now() - timedelta(seconds=1)


def test_a_due_schedule_becomes_one_job_that_says_where_it_is_from(make, expect, act):
    schedule = make(data={"say": "hello"}, options={"max_failures": 3, "priority": 1})
    slot = expect(schedule)
    job = QueuedJob.objects.get()
    assert (job.mount, job.script, job.data) == (act["mount"], "act", {"say": "hello"})
    assert (job.max_failures, job.priority, job.pushed_by) == (3, 1, "schedule:nightly")
    run = schedule.expected_runs.get()
    assert (run.slot_at, run.job_id, run.state) == (slot, job.pk, "pushed")
    schedule.refresh_from_db()
    assert schedule.runs == 1
    assert schedule.next_at > database_now()


def test_nothing_is_dispatched_twice_or_early(make, expect, lease):
    schedule = make()
    dispatch(database_now(), lease)
    assert not QueuedJob.objects.exists()
    expect(schedule)
    dispatch(database_now(), lease)
    assert QueuedJob.objects.count() == 1


@pytest.mark.parametrize("wrong", [-HOUR, HOUR])
def test_the_clock_of_the_host_changes_nothing(make, lease, wrong):
    schedule = make()
    in_a_minute = database_now() + timedelta(minutes=1)
    Schedule.objects.filter(pk=schedule.pk).update(next_at=in_a_minute)
    dispatch(database_now() + wrong, lease)
    assert not QueuedJob.objects.exists()
    Schedule.objects.filter(pk=schedule.pk).update(next_at=a_second_ago())
    dispatch(database_now() + wrong, lease)
    assert QueuedJob.objects.count() == 1


def test_the_database_refuses_a_second_run_of_a_slot(make, expect):
    schedule = make()
    slot = expect(schedule)
    with pytest.raises(IntegrityError), atomic():
        expected(schedule, slot, "skipped").save()


def test_a_slot_that_has_its_run_is_passed_over(make, expect, lease):
    schedule = make()
    slot = expect(schedule)
    Schedule.objects.filter(pk=schedule.pk).update(next_at=slot)
    dispatch(database_now(), lease)
    assert QueuedJob.objects.count() == 1
    schedule.refresh_from_db()
    assert schedule.next_at > slot


def test_a_replaced_curator_dispatches_nothing(make, lease):
    schedule = make()
    Schedule.objects.filter(pk=schedule.pk).update(next_at=a_second_ago())
    Lease.objects.filter(role="curator").update(token=lease.token + 1)
    with pytest.raises(LeaseLost):
        dispatch(database_now(), lease)
    assert not QueuedJob.objects.exists()


def test_a_crash_before_the_commit_leaves_nothing_and_is_made_good(make, lease):
    schedule = make()
    Schedule.objects.filter(pk=schedule.pk).update(next_at=a_second_ago())
    with pytest.raises(ZeroDivisionError), atomic():
        dispatch_batch(get_job_ids(1))
        raise ZeroDivisionError
    assert not QueuedJob.objects.exists()
    assert not ScheduledRun.objects.exists()
    dispatch(database_now(), lease)
    assert states(schedule) == ["pushed"]


def test_slots_of_an_outage_within_the_window_are_caught_up_on(make, lease):
    schedule = make(rule={"every": 60_000}, overlap="beside", catch_up="5m")
    now = database_now()
    first = now - timedelta(minutes=8, seconds=30)
    Schedule.objects.filter(pk=schedule.pk).update(
        next_at=first, rule={"every": 60_000, "anchor": first.isoformat()}
    )
    dispatch(now, lease)
    assert states(schedule) == ["missed"] * 4 + ["pushed"] * 5
    missed = schedule.expected_runs.filter(state="missed").first()
    assert "the curator was away until" in missed.reason
    event = Event.objects.get(kind="schedule.missed")
    assert event.facts["count"] == 4


def test_a_very_long_outage_is_told_in_brief(make, lease):
    every = 600_000  # the next one is far enough not to come while this test runs
    schedule = make(rule={"every": every}, catch_up="5m", overlap="skip")
    now = database_now()
    first = (now - timedelta(days=3, seconds=30)).replace(microsecond=0)
    Schedule.objects.filter(pk=schedule.pk).update(
        next_at=first, rule={"every": every, "anchor": first.isoformat()}
    )
    dispatch(now, lease)
    assert states(schedule).count("missed") == 100
    assert Event.objects.get(kind="schedule.missed").facts["count"] == 432
    missed = schedule.expected_runs.filter(state="missed").first()
    assert "of 432 missed runs the newest 100 are listed" in missed.reason
    assert now - missed.slot_at < timedelta(minutes=20)
    assert states(schedule).count("pushed") == 1
    schedule.refresh_from_db()
    assert schedule.next_at > now


def test_the_last_run_ends_the_schedule(make, expect):
    schedule = make(most_runs=1)
    expect(schedule)
    schedule.refresh_from_db()
    assert (schedule.state, schedule.next_at) == ("ended", None)
    assert Event.objects.filter(kind="schedule.ended").count() == 1


def test_jitter_delays_the_job_but_not_the_slot(make, expect):
    schedule = make(jitter="1h")
    slot = expect(schedule)
    job = QueuedJob.objects.get()
    assert slot <= job.due_at <= slot + HOUR
    assert schedule.expected_runs.get().slot_at == slot


def test_a_job_that_cannot_be_pushed_is_a_missed_run_with_the_reason(make, expect):
    schedule = make()
    Schedule.objects.filter(pk=schedule.pk).update(options={"priority": 99})
    expect(schedule)
    run = schedule.expected_runs.get()
    assert run.state == "missed"
    assert "priority" in run.reason
    schedule.refresh_from_db()
    assert schedule.next_at is not None


def test_a_zone_that_is_gone_pauses_the_schedule_and_spares_the_others(make, expect):
    lost, other = make("lost"), make("other")
    Schedule.objects.filter(pk=lost.pk).update(zone="Mars/Base", next_at=a_second_ago())
    expect(other)
    lost.refresh_from_db()
    assert lost.state == "paused"
    assert "there is no time zone 'Mars/Base'" in lost.pause_reason
    assert states(other) == ["pushed"]


def test_a_paused_schedule_expects_nothing(make, expect):
    from queues import schedules

    schedule = make()
    schedules.pause("nightly", reason="holidays")
    expect(schedule)
    assert states(schedule) == []
    assert seconds_to_next() == FAR
    schedules.resume("nightly")
    schedule.refresh_from_db()
    assert schedule.next_at > database_now()


def test_the_curator_knows_when_the_next_one_is_due(make):
    schedule = make()
    moment = database_now() + timedelta(seconds=100)
    Schedule.objects.filter(pk=schedule.pk).update(next_at=moment)
    assert 0 < seconds_to_next() <= 100


def test_many_due_schedules_are_dispatched_with_few_statements_each(make, lease):
    first = make("s0")
    copies = [Schedule(**{**_columns(first), "name": f"s{n}"}) for n in range(1, 50)]
    Schedule.objects.bulk_create(copies)
    Schedule.objects.update(next_at=a_second_ago())
    get_job_ids(1)  # the first one leases a number
    with CaptureQueriesContext(connection) as queries:
        dispatch(database_now(), lease)
    assert QueuedJob.objects.count() == 50
    assert len(queries) < 50 + 40  # an insert for each job


def _columns(schedule):
    skipped = {"id", "name"}
    fields = [each.attname for each in Schedule._meta.concrete_fields]
    return {name: getattr(schedule, name) for name in fields if name not in skipped}
