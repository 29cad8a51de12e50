"""What is wrong with schedules is an incident with its name and reason."""

from datetime import timedelta

from atributo_site.core.models.clock import database_now
from queues import schedules
from queues.models import Schedule, ScheduledRun
from queues.queries.schedule_incidents import symptoms
from queues.schedules.dispatch import dispatch


def kinds():
    return [each.kind for each in symptoms(database_now())]


def late_by(schedule, seconds):
    moment = database_now() - timedelta(seconds=seconds)
    Schedule.objects.filter(pk=schedule.pk).update(next_at=moment)


def test_nothing_is_wrong_with_a_schedule_that_is_not_due(make):
    make()
    assert kinds() == []


def test_a_run_that_nobody_dispatches_in_its_grace(make):
    schedule = make(grace="5m")
    late_by(schedule, 60)
    assert kinds() == []
    late_by(schedule, 600)
    [symptom] = symptoms(database_now())
    assert (symptom.kind, symptom.subject) == ("schedule.late", "schedule:nightly")
    assert "has not started its run of" in symptom.title


def test_a_job_that_does_not_begin_in_its_grace(make, expect, hands, go_on):
    schedule = make(grace="5m")
    expect(schedule)
    assert kinds() == []
    ScheduledRun.objects.update(start_by=database_now() - timedelta(seconds=1))
    [symptom] = symptoms(database_now())
    assert symptom.kind == "schedule.not_started"
    assert "waits in queue work" in symptom.detail
    hands.drain()
    assert kinds() == []


def test_missed_runs_are_told_with_the_reason(make, lease):
    schedule = make(catch_up="1m")
    late_by(schedule, 600)
    dispatch(database_now(), lease)
    [symptom] = symptoms(database_now())
    assert (symptom.kind, symptom.title) == ("schedule.missed", "1 run of schedule nightly missed")
    assert "the curator was away" in symptom.detail


def test_a_zone_that_is_gone_is_an_incident_until_it_is_mended(make, lease):
    schedule = make()
    Schedule.objects.filter(pk=schedule.pk).update(zone="Mars/Base")
    late_by(schedule, 1)
    dispatch(database_now(), lease)
    [symptom] = symptoms(database_now())
    assert symptom.kind == "schedule.paused"
    assert "There is no time zone 'Mars/Base'" in symptom.detail
    schedules.change("nightly", zone="UTC")
    schedules.resume("nightly")
    assert kinds() == []
