"""Create, change, pause, resume and delete schedules, and what is refused."""

from datetime import timedelta

import pytest

from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from queues import schedules
from queues.errors import (
    BadSchedule,
    QueueNotFound,
    ScheduleExists,
    ScheduleHasEnded,
    ScheduleNotFound,
)
from queues.models import QueuedJob, Schedule


def test_a_schedule_has_its_rule_and_the_next_run(make):
    schedule = make(rule={"cron": "0 9 * * mon-fri"}, zone="Europe/Berlin")
    local = schedule.next_at
    assert local.minute == 0 and local > database_now()
    assert Event.objects.get(kind="schedule.created").subject == "schedule:nightly"


def test_an_interval_keeps_its_anchor_when_something_else_is_changed(make):
    schedule = make(rule={"every": "90m"})
    anchor = schedule.rule["anchor"]
    assert schedules.change("nightly", rule={"every": "90m"}, jitter="5s")
    schedule.refresh_from_db()
    assert (schedule.rule, schedule.jitter_ms) == (
        {"every": 5_400_000, "anchor": anchor},
        5000,
    )


def test_a_change_is_told_with_before_and_after(make):
    make()
    assert schedules.change("nightly", rule={"cron": "@daily"}, zone="Asia/Tokyo")
    facts = Event.objects.get(kind="schedule.changed").facts
    assert facts["after"]["zone"] == "Asia/Tokyo"
    assert facts["before"]["zone"] == "UTC"
    assert schedules.change("nightly", zone="Asia/Tokyo") is False


def test_a_change_of_what_runs_leaves_the_next_run_where_it_is(make):
    schedule = make()
    schedules.change("nightly", data={"other": 1}, overlap="beside")
    changed = Schedule.objects.get()
    assert (changed.next_at, changed.data) == (schedule.next_at, {"other": 1})


@pytest.mark.parametrize(
    "given, said",
    [
        ({"rule": {"cron": "61 * * * *"}}, "the minute field"),
        ({"rule": {"cron": "0 0 30 2 *"}}, "30 February"),
        ({"rule": {"every": "often"}}, "a span such as 90m"),
        ({"zone": "Mars/Base"}, "there is no time zone"),
        ({"zone": 7}, "there is no time zone"),
        ({"ends_at": "2001-01-01T00:00"}, "start and end"),
        ({"starts_at": "soon"}, "starts_at"),
        ({"most_runs": 0}, "most_runs"),
        ({"jitter": "long"}, "jitter"),
        ({"jitter": -1}, "jitter"),
        ({"catch_up": 0}, "catch_up"),
        ({"overlap": "fight"}, "queue_one"),
        ({"pause_after_failures": "two"}, "pause_after_failures"),
        ({"options": {"repeat_times": -1}}, "its rule says when"),
        ({"options": {"prioritty": 1}}, "prioritty"),
        ({"options": []}, "options must be an object"),
        ({"script": "mail"}, "by its mount and name"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_wrong_is_refused_with_a_sentence_and_nothing_is_stored(make, given, said):
    with pytest.raises(BadSchedule) as error:
        make(**given)
    assert said in str(error.value)
    assert not Schedule.objects.exists()
    make()
    with pytest.raises(BadSchedule):
        schedules.change("nightly", **given)


@pytest.mark.parametrize("name", ["", "a/b", " a", "x" * 129, "a\nb", "a\x00", None, "\ud800"])
def test_a_name_that_no_address_can_have_is_refused(make, name):
    with pytest.raises(BadSchedule, match="name"):
        make(name)


def test_names_and_queues_are_checked(make):
    make()
    with pytest.raises(ScheduleExists):
        make()
    with pytest.raises(QueueNotFound):
        make("other", queue="nowhere")
    with pytest.raises(ScheduleNotFound):
        schedules.row("nowhere")
    with pytest.raises(BadSchedule, match="needs script"):
        schedules.create("other", rule={"cron": "@daily"})


def test_pauses_have_a_reason_and_an_end(make):
    make()
    until = database_now() + timedelta(days=1)
    assert schedules.pause("nightly", reason="holidays", until=until)
    assert not schedules.pause("nightly")
    schedule = Schedule.objects.get()
    assert (schedule.state, schedule.pause_reason) == ("paused", "holidays")
    assert schedule.paused_until == until
    assert schedules.resume("nightly")
    assert not schedules.resume("nightly")
    with pytest.raises(BadSchedule, match="over already"):
        schedules.pause("nightly", until="2001-01-01")


def test_an_ended_schedule_goes_on_when_its_end_is_moved(make, expect):
    schedule = make(most_runs=1)
    expect(schedule)
    for operation in (schedules.pause, schedules.resume):
        with pytest.raises(ScheduleHasEnded):
            operation("nightly")
    with pytest.raises(BadSchedule, match="more than the 1 runs"):
        schedules.change("nightly", jitter="1s")
    schedules.change("nightly", most_runs=2)
    assert Schedule.objects.get().state == "active"


def test_a_deleted_schedule_leaves_its_jobs(make, expect):
    schedule = make()
    expect(schedule)
    schedules.delete("nightly")
    assert not Schedule.objects.exists()
    assert QueuedJob.objects.count() == 1
    with pytest.raises(ScheduleNotFound):
        schedules.delete("nightly")
