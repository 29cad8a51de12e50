"""The overview's charts: counters per minute in slices, never a raw row."""

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from atributo_site.core.leases import HeldLease
from atributo_site.core.models.clock import database_now
from queues.models import HourCount, MinuteCount
from queues.queries.counters import sum_hours
from queues.queries.history import RANGES, history, whole
from tests.console.page_elements import ids_on
from tests.factories.jobs import make_job, make_queue

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
    plain = {name: history(NOW, RANGES[name]) for name in ("7d", "90d")}
    assert sum_hours(NOW, HeldLease.take("curator", "test", 3600)) > 25
    assert not HourCount.objects.filter(hour__gte=NOW.replace(minute=0, second=0)).exists()
    assert {name: history(NOW, RANGES[name]) for name in plain} == plain
    assert sum_hours(NOW, HeldLease.take("other", "test", 3600)) == 0


@pytest.mark.parametrize(("name", "points"), [("1h", 60), ("24h", 96), ("7d", 84), ("90d", 90)])
def test_every_range_ends_with_the_slice_under_way(name, points):
    found = history(NOW, RANGES[name])
    assert len(found) == points
    assert found[-1]["at"] <= NOW < found[-1]["at"] + timedelta(seconds=RANGES[name].slice_seconds)


def test_the_history_of_one_queue_leaves_out_the_others():
    mail, news = make_queue("mail"), make_queue("news")
    long_ago = NOW.replace(second=0) - timedelta(days=3)
    for queue, complete in ((mail, 3), (news, 4)):
        count(NOW.replace(second=0), queue, complete=complete)
        count(long_ago, queue, complete=complete)
    sum_hours(NOW, HeldLease.take("curator", "test", 3600))
    for name, total in (("1h", 3), ("24h", 3), ("7d", 6), ("90d", 6)):
        assert sum(point["complete"] for point in history(NOW, RANGES[name], mail.pk)) == total


@pytest.fixture
def minute():
    """Return the start of a slice that is over, by the clock of the database."""
    return database_now().replace(second=0, microsecond=0) - timedelta(minutes=10)


def bars(client, path="/"):
    """Return the links of the bars, for a page without script and for the script."""
    page = client.get(path).text
    points = json.loads(re.search(r'id="chart-points"[^>]*>(.*?)</script>', page)[1])
    drawn = re.search(r'<svg class="minutes wide".*?</svg>', page, re.DOTALL)[0]
    links = [unescape(link) for link in re.findall(r'<a href="([^"]+)"', drawn)]
    assert links == [url for url in points["urls"] if url]
    return links


def test_a_bar_opens_the_failed_jobs_of_its_time(client_as, minute):
    queue = make_queue()
    count(minute, queue, complete=1, failed=5, retried=4)
    failed = make_job(queue, "failed", ended_at=minute + timedelta(seconds=30))
    make_job(queue, "complete", ended_at=minute + timedelta(seconds=30))
    make_job(queue, "failed", ended_at=minute + timedelta(minutes=1))
    client = client_as("viewer")
    (link,) = bars(client)
    assert ids_on(client.get(link)) == {failed.pk}
    assert ids_on(client.get(bars(client, "/queues/mail/")[0])) == {failed.pk}


def test_a_bar_without_failed_jobs_opens_what_ended_then(client_as, minute):
    """Failed jobs were retried, or a person let them run again."""
    queue = make_queue()
    count(minute, queue, complete=1, failed=5, retried=4)
    ended = make_job(queue, "complete", ended_at=minute)
    make_job(queue, "complete", ended_at=minute, parent=ended.pk, parent_run=1)
    (link,) = bars(client_as("viewer"))
    assert ids_on(client_as("viewer").get(link)) == {ended.pk}


@pytest.mark.parametrize("path", ["/", "/queues/mail/", "/?range=24h", "/?range=90d"])
def test_a_bar_that_ended_no_job_opens_nothing(path, client_as, minute):
    """Make runs of a repeating job with callbacks, and attempts that were retried."""
    queue = make_queue()
    count(minute, queue, complete=7, failed=3, retried=3)
    job = make_job(queue, repeat_times=-1)
    make_job(queue, "complete", ended_at=minute, parent=job.pk, parent_run=1)
    page = client_as("viewer").get(path).text
    assert bars(client_as("viewer"), path) == []
    assert "7 runs complete, 3 attempts failed" in page
    assert "state=failed&amp;since=" not in page


@pytest.mark.parametrize(("path", "since"), [("/", "1h"), ("/?range=90d", "90d")])
def test_the_failed_jobs_of_the_whole_range_are_linked(path, since, client_as, minute):
    queue = make_queue()
    count(minute, queue, failed=2, retried=1)
    failed = make_job(queue, "failed", ended_at=minute)
    page = client_as("viewer").get(path).text
    assert "2 attempts failed</span>, 1 of them retried" in page
    assert f'href="/jobs/?state=failed&amp;since={since}">Failed jobs' in page
    assert ids_on(client_as("viewer").get(f"/jobs/?state=failed&since={since}")) == {failed.pk}


def test_a_queue_has_the_ranges_of_the_overview(client_as):
    mail, news = make_queue("mail"), make_queue("news")
    at = database_now().replace(second=0, microsecond=0) - timedelta(days=40)
    count(at, mail, complete=5, failed=2, wait_1=7, run_3=7)
    count(at, news, complete=90)
    client = client_as("viewer")
    assert "No jobs ran in this period" in client.get("/queues/mail/").text
    page = client.get("/queues/mail/?range=90d").text
    assert "Last 90 days</h2>" in page and "per 1d" in page
    assert "5<small> runs complete" in page
    assert "≤ 10s" in page
    for name in RANGES:
        assert f'href="/queues/mail/?range={name}"' in page
    assert 'hx-get="/queues/mail/?range=90d"' in page


def test_a_bar_leads_to_the_jobs_behind_it(client_as):
    queue = make_queue()
    make_job(queue, "failed", error="then", ended_at=NOW)
    make_job(queue, "failed", error="later", ended_at=NOW + timedelta(hours=1))
    asked = {"state": "failed", "since": "2026-03-01T12:30", "until": "2026-03-01T12:31"}
    page = client_as("viewer").get("/jobs/", asked).text
    assert ">then<" in page
    assert ">later<" not in page
    assert client_as("viewer").get("/jobs/", {"since": "soon"}).status_code == 400
