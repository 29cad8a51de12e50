"""The overview's charts: counters per minute in slices, never a raw row."""

from datetime import UTC, datetime, timedelta

import pytest

from allocation.leases import HeldLease
from queues.history import RANGES, history, whole
from queues.hours import sum_hours
from queues.models import HourCount, MinuteCount
from tests.site.job_rows import make_job, make_queue

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 30, 30, tzinfo=UTC)


def count(minute, queue, **counts):
    MinuteCount.objects.create(queue=queue, minute=minute, **counts)


def test_minutes_of_all_queues_are_summed_slice_by_slice():
    mail, news = make_queue("mail"), make_queue("news")
    count(datetime(2026, 3, 1, 12, 1, tzinfo=UTC), mail, complete=3, run_1=3)
    count(datetime(2026, 3, 1, 12, 14, tzinfo=UTC), news, complete=4, failed=2, run_2=6)
    points = {point["at"].strftime("%H:%M"): point for point in history(NOW, RANGES["24h"])}
    assert (points["12:00"]["complete"], points["12:00"]["failed"]) == (7, 2)
    assert points["12:00"]["run"]["p50"] == 325
    assert points["12:15"]["run"]["p99"] is None


def test_times_of_the_whole_period_weigh_each_slice_by_its_jobs():
    mail = make_queue("mail")
    count(datetime(2026, 3, 1, 12, 1, tzinfo=UTC), mail, run_0=98)
    count(datetime(2026, 3, 1, 12, 20, tzinfo=UTC), mail, run_3=2)
    points = history(NOW, RANGES["24h"])
    assert whole(points, "run")["p50"] < 10 < 1_000 < whole(points, "run")["p99"]
    assert whole(points, "wait") == {"p50": None, "p95": None, "p99": None}


def test_sums_of_hours_say_the_same_as_their_minutes():
    mail, news = make_queue("mail"), make_queue("news")
    for hours in range(30):
        for minute in (1, 59):
            at = NOW - timedelta(hours=hours, minutes=minute)
            count(at.replace(second=0), mail, complete=hours, failed=1, wait_2=hours)
    count(NOW.replace(second=0), news, complete=7)
    plain = history(NOW, RANGES["7d"])
    assert sum_hours(NOW, HeldLease.take("curator", "test", 3600)) > 25
    assert not HourCount.objects.filter(hour__gte=NOW.replace(minute=0, second=0)).exists()
    assert history(NOW, RANGES["7d"]) == plain
    assert sum_hours(NOW, HeldLease.take("other", "test", 3600)) == 0


@pytest.mark.parametrize(("name", "points"), [("1h", 60), ("24h", 96), ("7d", 84)])
def test_every_range_ends_with_the_slice_under_way(name, points):
    found = history(NOW, RANGES[name])
    assert len(found) == points
    assert found[-1]["at"] <= NOW < found[-1]["at"] + timedelta(seconds=RANGES[name].slice_seconds)


def test_a_bar_leads_to_the_jobs_behind_it(client_as):
    queue = make_queue()
    make_job(queue, "failed", error="then", ended_at=NOW)
    make_job(queue, "failed", error="later", ended_at=NOW + timedelta(hours=1))
    asked = {"state": "failed", "since": "2026-03-01T12:30", "until": "2026-03-01T12:31"}
    page = client_as("viewer").get("/jobs/", asked).text
    assert ">then<" in page
    assert ">later<" not in page
    assert client_as("viewer").get("/jobs/", {"since": "soon"}).status_code == 400
