"""The active curator opens one row for what is wrong, follows it and resolves it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.db.transaction import atomic

from atributo_site.core.errors import LeaseLost
from atributo_site.core.incidents.symptom import Symptom
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.incidents import repairs
from atributo_site.incidents.rows import SAME_SECONDS, open_incident, resolve, settle
from atributo_site.models import Incident
from queues.models import Queue
from tests.factories.jobs import make_job, make_queue

pytestmark = pytest.mark.django_db(transaction=True)
LATE = Symptom(
    kind="queue.late",
    subject="queue:mail",
    severity="warning",
    title="The queue mail is late",
    detail="No worker runs.",
)


def kinds():
    about = Event.objects.filter(kind__startswith="incident.").order_by("pk")
    return [event.kind for event in about]


@pytest.fixture
def lease():
    return HeldLease.take("curator", "host:1", 600, name="first")


def test_what_is_wrong_opens_one_row_that_stays_one():
    for _ in range(3):
        settle([LATE])
    row = Incident.objects.get()
    assert (row.state, row.count, row.title) == ("open", 1, LATE.title)
    assert kinds() == ["incident.opened"]


def test_it_resolves_by_itself_when_its_cause_is_gone():
    settle([LATE])
    settle([])
    settle([])
    assert Incident.objects.get().state == "resolved"
    assert kinds() == ["incident.opened", "incident.resolved"]


def test_the_words_follow_the_cause():
    settle([LATE])
    settle([Symptom(**{**vars(LATE), "severity": "error", "detail": "The limit is reached."})])
    row = Incident.objects.get()
    assert (row.severity, row.detail) == ("error", "The limit is reached.")
    assert kinds() == ["incident.opened"]


def test_what_comes_back_at_once_is_the_same_incident_once_more():
    settle([LATE])
    settle([])
    settle([LATE])
    row = Incident.objects.get()
    assert (row.state, row.count) == ("open", 2)
    assert kinds() == ["incident.opened", "incident.resolved", "incident.opened"]


def test_what_comes_back_later_is_another_one():
    settle([LATE])
    settle([])
    Incident.objects.update(resolved_at=from_now(-SAME_SECONDS - 1))
    settle([LATE])
    assert sorted(row.state for row in Incident.objects.all()) == ["open", "resolved"]


def test_the_moment_of_the_last_look_is_noted_but_not_with_every_look():
    settle([LATE])
    first = Incident.objects.get().last_seen_at
    settle([LATE])
    assert Incident.objects.get().last_seen_at == first
    Incident.objects.update(last_seen_at=from_now(-60))
    settle([LATE])
    assert Incident.objects.get().last_seen_at >= first


def test_of_a_list_that_is_cut_none_is_resolved():
    other = Symptom(**{**vars(LATE), "subject": "queue:other", "is_cut": True})
    settle([LATE])
    settle([other])
    assert Incident.objects.unresolved().count() == 2
    settle([Symptom(**{**vars(other), "is_cut": False})])
    assert Incident.objects.unresolved().get().subject == "queue:other"


def test_texts_that_are_too_long_or_hold_nul_are_stored_cut():
    settle([Symptom(**{**vars(LATE), "subject": "queue:" + "x" * 400, "title": "a\x00" * 600})])
    row = Incident.objects.get()
    assert (len(row.subject), row.title) == (320, "a" * 500)
    settle([])
    assert row.pk == Incident.objects.get().pk


def test_the_database_holds_one_open_row_per_key():
    settle([LATE])
    again = {"kind": LATE.kind, "subject": LATE.subject, "severity": "error", "title": "again"}
    with pytest.raises(IntegrityError), atomic():
        Incident.objects.create(**again)


def test_two_curators_open_and_resolve_it_once():
    def both(function, *arguments):
        def call(_):
            try:
                return function(*arguments)
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as threads:
            return sorted(threads.map(call, range(2)))

    assert both(open_incident, LATE) == [False, True]
    assert both(resolve, Incident.objects.get().pk) == [False, True]
    assert kinds() == ["incident.opened", "incident.resolved"]


def test_a_curator_that_was_replaced_opens_nothing(lease):
    make_job(make_queue(), due_at=database_now() - timedelta(seconds=90))
    lease.release()
    with pytest.raises(LeaseLost):
        repairs.follow(database_now(), lease)
    assert not Incident.objects.exists()


def test_the_curator_follows_a_late_queue_until_it_is_mended(lease):
    HeldLease.take("worker/w1", "host:2", 600)
    make_job(make_queue(), due_at=database_now() - timedelta(seconds=90))
    assert repairs.follow(database_now(), lease) == 0
    row = Incident.objects.get()
    assert (row.key, row.state, row.affected) == (LATE.key, "open", "1 due job")
    Queue.objects.update(target_age_seconds=3600)
    repairs.follow(database_now(), lease)
    assert Incident.objects.get().state == "resolved"


def test_resolved_ones_are_forgotten_with_the_events_and_open_ones_are_not(lease):
    for name in ("old", "young"):
        open_incident(Symptom(**{**vars(LATE), "subject": f"queue:{name}"}))
        resolve(Incident.objects.unresolved().get().pk)
    settle([LATE])
    Incident.objects.filter(subject="queue:old").update(resolved_at=from_now(-91 * 86400))
    assert repairs.forget_old_incidents(database_now(), lease) == 1
    assert set(Incident.objects.values_list("subject", flat=True)) == {"queue:young", "queue:mail"}
