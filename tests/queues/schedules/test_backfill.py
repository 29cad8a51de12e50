"""Backfills of a past range: previewed, at a pace, and no slot twice."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from queues.errors import BadSchedule
from queues.models import QueuedJob, ScheduledRun
from queues.schedules import backfill
from tests.queues.schedules.conftest import states

RANGE = ("2024-06-01T00:00", "2024-06-05T23:00")


@pytest.fixture
def daily(make):
    return make(rule={"cron": "@daily"}, ends_at="2900-01-01")


def test_a_preview_counts_and_stores_nothing(daily):
    slots, done = backfill.plan("nightly", *RANGE)
    assert (len(slots), done) == (5, 0)
    assert not ScheduledRun.objects.exists()


def test_runs_follow_at_their_pace(daily, go_on):
    assert backfill.start("nightly", *RANGE, at_once=2) == 5
    pushed = []
    for _ in range(3):
        go_on()
        pushed.append(QueuedJob.objects.unfinished().count())
        QueuedJob.objects.unfinished().update(status="complete", started_at=Now(), ended_at=Now())
    go_on()
    assert pushed == [2, 2, 1]
    assert states(daily) == ["complete"] * 5


def test_no_slot_runs_twice_and_missed_ones_are_made_good(daily):
    first = backfill.plan("nightly", *RANGE).slots[0]
    for day, state in ((0, "complete"), (1, "missed")):
        at = first + timedelta(days=day)
        ScheduledRun.objects.create(schedule=daily, slot_at=at, start_by=at, state=state)
    assert backfill.plan("nightly", *RANGE).done == 1
    assert backfill.start("nightly", *RANGE) == 4
    assert backfill.start("nightly", *RANGE) == 0
    assert states(daily) == ["complete", *["waiting"] * 4]


def test_what_waits_is_dropped(daily):
    backfill.start("nightly", *RANGE)
    assert backfill.stop("nightly") == 5
    assert states(daily) == ["skipped"] * 5
    assert backfill.start("nightly", *RANGE) == 5


@pytest.mark.parametrize(
    "since, until, at_once, said",
    [
        ("2024-06-05", "2024-06-01", 1, "after since"),
        ("2024-06-05", "2899-06-01", 1, "for the past"),
        ("soon", "2024-06-01", 1, "since"),
        ("1971-01-01", "2024-06-01", 1, "at most 10000"),
        ("2024-06-01", "2024-06-02", 0, "at_once"),
        ("2024-06-01", "2024-06-02", 1000, "at_once"),
    ],
)
def test_a_wrong_range_is_refused(daily, since, until, at_once, said):
    with pytest.raises(BadSchedule, match=said):
        backfill.start("nightly", since, until, at_once)
