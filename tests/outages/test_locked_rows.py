"""A push beside somebody who sleeps in a transaction is refused soon, and nothing is written."""

from dataclasses import replace

import psycopg
import pytest
from django.conf import settings
from django.db import connection

import queues
from atributo_site.core.availability.patience import in_a_hurry
from atributo_site.core.errors import DatabaseBusy
from atributo_site.core.events import Actor, acting, record
from atributo_site.core.models import Event
from queues.models import QueuedJob
from tests.queues.conftest import *  # noqa: F403

pytestmark = pytest.mark.django_db(transaction=True)
PUSH_MS = 300
HOLD = "LOCK TABLE queues_queuedjob IN EXCLUSIVE MODE"


@pytest.fixture
def short_patience(monkeypatch):
    """Let a push give up soon, and everything else never."""
    patient = replace(settings.ATRIBUTO, push_timeout_ms=PUSH_MS, busy_timeout_ms=600_000)
    monkeypatch.setattr(settings, "ATRIBUTO", patient)


@pytest.fixture
def sleeper(database, short_patience):
    """sleeper() → somebody begins a transaction, locks the jobs and does not go on."""
    opened = []

    def begin():
        if database == "postgresql":
            params = connection.get_connection_params()
            known = {key: params[key] for key in ("dbname", "user", "host") if key in params}
            opened.append(psycopg.connect(**known))
            opened[-1].execute(HOLD)
        else:
            opened.append(connection.copy())
            opened[-1].cursor().execute("BEGIN IMMEDIATE")

    yield begin
    for each in opened:
        each.close()


def test_a_push_of_a_program_is_refused(queue, act, sleeper):
    queue.push(act)
    sleeper()
    for push in (lambda: queue.push(act), lambda: queue.push_many(act, [None, None])):
        with pytest.raises(DatabaseBusy, match="busy"):
            push()
    assert QueuedJob.objects.count() == 1


@pytest.mark.parametrize("more", [{}, {"Idempotency-Key": "k"}], ids=["", "once"])
def test_a_push_over_rest_is_refused(queue, act, sleeper, client, bearer, more):
    headers = {**bearer("admin"), **more}
    job = {"script": {"mount": act["mount"], "name": act["name"]}}
    with acting(Actor("vm", "command")):  # a web process is a command that has done something
        record("demo.made", "site:demo")
        events = Event.objects.count()
        sleeper()
        answer = client.post("/api/v1/queues/work/jobs", job, "application/json", headers=headers)
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert "busy" in answer.json()["code"]
    assert (QueuedJob.objects.count(), Event.objects.count()) == (0, events)


@pytest.mark.only_on("postgresql")
def test_other_calls_are_as_patient_as_before(transactional_db, queue, act):
    def limit():
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            return cursor.fetchone()[0]

    usual = limit()
    with in_a_hurry(1500):
        assert limit() == "1500ms"
        with in_a_hurry(3000):
            assert limit() == "1500ms"
    assert limit() == usual
    queues.get("work").push(act)
    assert limit() == usual
