"""What the statements about many jobs read does not depend on how many wait."""

import json

import pytest
from django.db import connection

import queues
from atributo_site.core.database import dialect
from atributo_site.core.models.clock import database_now
from queues.models import Queue, QueuedJob, Script
from queues.shared.holding import Holding
from queues.shared.runner import shared_scripts
from queues.shared.sql import statements as sql

WAITING = 20_000
ENDED = 500
HELD = 5


@pytest.fixture
def holding(act):
    """Hold slots of a queue whose statistics are from a time when nothing waited."""
    crowded = queues.create("crowded", max_workers=HELD)
    crowded.push_many(act, [None] * ENDED)
    now = database_now()
    QueuedJob.objects.update(status="complete", started_at=now, ended_at=now)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE queues_queuedjob")
    crowded.push_many(act, [None] * WAITING)
    row = Queue.objects.get(name="crowded")
    held = Holding(row.pk, row.name, "here", "here")
    assert held.acquire(HELD) == HELD
    return held


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize("statement", [sql.start_and_record, sql.still_ours])
def test_held_jobs_are_found_by_their_ids(holding, statement):
    """Neither among all that wait, nor among the remains of all that their slots have held."""
    reserved = holding.reserve(list(holding.slots.values()))
    asked = {
        "slots": json.dumps([{"id": s.id, "epoch": s.epoch} for s in holding.slots.values()]),
        "jobs": json.dumps([each.job.id for each in reserved]),
        "worker": "here",
    }
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement(dialect())}", asked)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "queues_queuedjob_pkey" in plan, plan


def test_jobs_of_a_script_with_limits_share_no_process(probe):
    scripts = Script.objects.filter(service__mount=probe, name="act")
    scripts.update(threads=100)
    shared_scripts.cache_clear()
    assert shared_scripts(1)[probe, "act"] == 100
    scripts.update(limits=[{"per": "script", "at_once": 1}])
    assert (probe, "act") not in shared_scripts(2)
