"""Late queues are marked on every screen and need attention, however many there are."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from atributo_site.core.models.clock import database_now
from atributo_site.status.snapshot import snapshot
from queues.models import Queue, Slot
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db
STICKY = {"sticky_key": "ada", "routed_to": "web-1", "routed_epoch": 1}


def late_by(seconds, target, **changes):
    """Make a queue `mail` whose oldest job has been due for that long."""
    queue = make_queue()
    Queue.objects.filter(pk=queue.pk).update(target_age_seconds=target, **changes)
    make_job(queue, due_at=database_now() - timedelta(seconds=seconds))
    return queue


def works_at(queue):
    lease = {"holder": "a", "leased_until": database_now() + timedelta(minutes=1)}
    Slot.objects.filter(queue=queue, number=0).update(**lease)


def told():
    titles = [item["title"] for item in snapshot(database_now())["attention"]]
    return [title for title in titles if "queue mail" in title.lower()]


@pytest.mark.parametrize(
    ("seconds", "target", "word", "tone"),
    [
        (500, 3600, "fine", "ok"),
        (500, 400, "late", "warn"),
        (500, 100, "very late", "bad"),
        (500, None, "very late", "bad"),
    ],
)
@pytest.mark.parametrize("path", ["/queues/", "/queues/mail/", "/"])
def test_the_oldest_age_is_said_with_icon_word_and_colour(
    path, seconds, target, word, tone, client_as
):
    late_by(seconds, target)
    page = client_as("viewer").get(path).text
    assert re.search(
        rf'<span class="state is-{tone}"><svg[^>]*><use [^>]*#{tone}"/></svg>{word}<', page
    )


@pytest.mark.parametrize("path", ["/queues/", "/queues/mail/"])
def test_a_paused_queue_is_not_called_late(path, client_as):
    late_by(500, 10, paused_at=database_now())
    page = client_as("viewer").get(path).text
    assert "8m" in page
    assert ">late<" not in page and ">very late<" not in page and "stale" not in page
    assert told() == []


def test_a_long_target_keeps_a_queue_from_needing_attention():
    late_by(90, 100)
    assert told() == []
    Queue.objects.update(target_age_seconds=80)
    assert told() == ["No worker serves queue mail"]


def test_busy_workers_excuse_only_a_queue_without_a_target():
    queue = late_by(90, None)
    works_at(queue)
    assert told() == []
    Queue.objects.update(target_age_seconds=80)
    assert told() == ["Queue mail is late"]


def test_a_late_queue_whose_slots_are_all_held_needs_more_of_them():
    queue = late_by(90, 80)
    works_at(queue)
    commands = [item["command"] for item in snapshot(database_now())["attention"]]
    assert "manage.py queue create mail --max-workers 3" not in commands
    Queue.objects.filter(pk=queue.pk).update(max_workers=1)
    commands = [item["command"] for item in snapshot(database_now())["attention"]]
    assert "manage.py queue create mail --max-workers 2" in commands


def test_sticky_jobs_that_wait_for_their_instance_are_told_apart(client_as):
    make_job(make_queue(), due_at=database_now() - timedelta(seconds=90), **STICKY)
    found = [
        item for item in snapshot(database_now())["attention"] if "queue mail" in item["title"]
    ]
    assert [item["title"] for item in found] == [
        "Sticky jobs in queue mail are waiting for their instance"
    ]
    assert found[0]["screen"].startswith("/jobs/?state=waiting&q=queue%3Amail&columns=state")
    assert "web-1" in client_as("viewer").get(found[0]["screen"]).text


@pytest.fixture
def two_are_shown(monkeypatch):
    """Few queues stand for hundreds."""
    monkeypatch.setattr("queues.queries.snapshot.MOST_QUEUES", 2)
    for name in ("any", "more", "other"):
        make_queue(name)


def test_the_overview_says_how_many_queues_it_leaves_out(two_are_shown, client_as):
    page = client_as("viewer").get("/").text
    assert "q=queue%3Adefault" in page and "q=queue%3Amore" not in page
    assert "2 more queues are not shown here" in page
    Queue.objects.get(name="other").delete()
    assert "1 more queue is not shown here" in client_as("viewer").get("/").text


def test_nothing_is_said_where_every_queue_is_shown(client_as):
    make_queue()
    assert "not shown" not in client_as("viewer").get("/").text


def test_a_late_queue_needs_attention_however_many_come_before_it(two_are_shown):
    late_by(90, None)
    assert told() == ["No worker serves queue mail"]
    Queue.objects.update(target_age_seconds=100)
    assert told() == []
    Queue.objects.update(target_age_seconds=80)
    works_at(Queue.objects.get(name="mail"))
    assert told() == ["Queue mail is late"]
    Queue.objects.update(target_age_seconds=None)
    assert told() == []
    Slot.objects.update(holder="", leased_until=None)
    assert told() == ["No worker serves queue mail"]
    Queue.objects.update(paused_at=database_now())
    assert told() == []


def test_late_sticky_jobs_behind_the_shown_are_found_too(two_are_shown):
    make_job(make_queue(), due_at=database_now() - timedelta(seconds=90), **STICKY)
    assert told() == ["Sticky jobs in queue mail are waiting for their instance"]


def test_many_late_queues_need_no_more_queries(two_are_shown, django_assert_num_queries):
    late_by(90, None)
    with CaptureQueriesContext(connection) as few:
        snapshot(database_now())
    for number in range(5):
        make_job(make_queue(f"x-{number}"), due_at=database_now() - timedelta(seconds=90))
    with django_assert_num_queries(len(few)):
        snapshot(database_now())
