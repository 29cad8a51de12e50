"""A late queue says why: no worker, nobody at the instance, the limit, busy workers, a pause."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.status.snapshot import snapshot, state_of_everything
from atributo_site.status.symptoms import symptoms
from queues.logic.lateness import why_late
from queues.models import Queue, Slot, Station
from tests.factories.jobs import make_job, make_queue

STICKY = {"sticky_key": "ada", "routed_to": "web-1", "routed_epoch": 1, "rank": 10}
with_rows = pytest.mark.django_db


def late_queue(**job):
    queue = make_queue()
    Queue.objects.filter(pk=queue.pk).update(target_age_seconds=80)
    make_job(queue, due_at=database_now() - timedelta(seconds=90), **job)
    return queue


def about_mail():
    (found,) = [each for each in now_wrong() if each.subject == "queue:mail"]
    return found


def now_wrong():
    return symptoms(state_of_everything(database_now()))


def holds_slots(queue, count):
    lease = {"holder": "a", "leased_until": database_now() + timedelta(minutes=1)}
    Slot.objects.filter(queue=queue, number__lt=count).update(**lease)


def a_worker_runs():
    HeldLease.take("worker/w1", "host:1", 600)


@with_rows
def test_no_worker_runs():
    late_queue()
    assert about_mail().detail == "No worker runs. Its target age is 1m20s."
    assert about_mail().command == "manage.py worker"


@with_rows
def test_workers_are_busy_with_other_queues():
    late_queue()
    a_worker_runs()
    assert about_mail().detail.startswith("No worker has taken it: those that run are busy")


@with_rows
def test_the_limit_is_reached():
    queue = late_queue()
    a_worker_runs()
    Queue.objects.filter(pk=queue.pk).update(max_workers=1)
    holds_slots(queue, 1)
    found = about_mail()
    assert found.detail.startswith("The limit is reached: its only slot is in use.")
    assert found.command == "manage.py queue create mail --max-workers 2"


@with_rows
def test_workers_are_busy_with_this_queue():
    queue = late_queue()
    a_worker_runs()
    holds_slots(queue, 1)
    assert about_mail().detail.startswith("1 of 2 slots are in use, and no worker is free.")


@with_rows
def test_nobody_serves_the_instance_of_a_sticky_job():
    late_queue(**STICKY)
    a_worker_runs()
    found = about_mail()
    assert found.kind == "queue.sticky_waiting"
    assert found.detail.startswith("No worker serves web-1, where its oldest job must run.")
    assert found.command == "manage.py worker --instance web-1"
    Station.objects.create(pk="web-1", served_until=from_now(60))
    assert about_mail().detail.startswith("The workers of web-1 are busy, or its key is.")


@with_rows
def test_a_paused_queue_is_a_notice_and_needs_no_attention():
    queue = late_queue()
    Queue.objects.filter(pk=queue.pk).update(paused_at=database_now(), paused_by="ada")
    found = about_mail()
    assert (found.kind, found.severity) == ("queue.paused", "notice")
    assert found.detail == "ada paused it. Its jobs start when somebody resumes it."
    assert found.command == "manage.py queue resume mail"
    kinds = [item["kind"] for item in snapshot(database_now())["attention"]]
    assert "queue.paused" not in kinds


@with_rows
def test_runs_that_were_lost_in_the_last_hour_are_one_incident():
    for number in range(3):
        record("run.lost", f"job:{number}")
    Event.objects.filter(subject="job:0").update(at=from_now(-7200))
    (found,) = [each for each in now_wrong() if each.kind == "runs.lost"]
    assert found.title == "2 runs were lost in the last hour"


@with_rows
def test_restarts_count_for_an_hour():
    now = database_now()
    child = {"name": "web", "restarts": 3, "last_exit": "signal 9"}
    children = [
        {**child, "restarted_at": now.isoformat()},
        {**child, "name": "old", "restarted_at": (now - timedelta(hours=2)).isoformat()},
    ]
    state = {**state_of_everything(now), "restarts": children}
    subjects = [each.subject for each in symptoms(state) if each.kind == "process.restarted"]
    assert subjects == ["process:web"]


@with_rows
def test_many_late_queues_with_sticky_jobs_need_no_more_queries(django_assert_num_queries):
    late_queue(**STICKY)
    with CaptureQueriesContext(connection) as few:
        now_wrong()
    for number in range(5):
        queue = make_queue(f"x-{number}")
        sticky = {**STICKY, "sticky_key": f"key-{number}", "routed_to": f"web-{number}"}
        make_job(queue, due_at=database_now() - timedelta(seconds=90), **sticky)
    with django_assert_num_queries(len(few)):
        now_wrong()


@given(
    st.integers(0, 50),
    st.integers(1, 50),
    st.integers(0, 9),
    st.booleans(),
    st.none() | st.text(min_size=1, max_size=9),
    st.booleans(),
)
def test_every_late_queue_has_a_reason_that_fits(
    running, max_workers, workers, is_sticky, instance, is_served
):
    late = why_late(
        running=running,
        max_workers=max_workers,
        workers=workers,
        is_sticky=is_sticky,
        instance=instance,
        is_served=is_served,
    )
    assert late.sentence.endswith(".")
    assert late.needs in {"worker", "slots", "instance"}
    assert is_sticky or late.instance is None
    assert late.needs != "slots" or running >= max_workers
