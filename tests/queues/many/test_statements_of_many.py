"""What the statements about many jobs read does not depend on how many wait."""

import json
import time
from contextlib import nullcontext
from dataclasses import replace

import pytest
from django.db import connection
from django.db.models import Max
from django.db.models.functions import Now
from django.db.transaction import atomic

import queues
from atributo_site.core.database import dialect, execute
from atributo_site.core.models.clock import database_now
from queues.models import Catalogue, Queue, QueuedJob, Run, Script, Slot
from queues.runs.reservation import reserve
from queues.shared.belonging import belonging, shared_scripts
from queues.shared.holding import Belonging, Holding
from queues.shared.shared_run import SharedRun
from queues.shared.sql import statements as sql

WAITING = 20_000
ENDED = 500
HELD = 5


def held_slots(name):
    row = Queue.objects.get(name=name)
    held = Holding(row.pk, row.name, "here", "here")
    assert held.acquire(HELD) == HELD
    return held


@pytest.fixture
def crowded(act):
    """Hold slots of a queue whose statistics are from a time when nothing waited."""
    queue = queues.create("crowded", max_workers=HELD)
    queue.push_many(act, [None] * ENDED)
    now = database_now()
    QueuedJob.objects.update(status="complete", started_at=now, ended_at=now)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE queues_queuedjob")
    queue.push_many(act, [None] * WAITING)
    return held_slots("crowded")


@pytest.fixture
def holding(act):
    queues.create("few", max_workers=HELD).push_many(act, [None] * 4 * HELD)
    return held_slots("few")


@pytest.fixture
def shared_act(act):
    """Let one process run many jobs of this script; return what belongs into it."""
    Script.objects.filter(service__mount=act["mount"], name="act").update(threads=100)
    shared_scripts.cache_clear()
    belonging.cache_clear()
    yield belonging(act["mount"], Catalogue.objects.aggregate(at=Max("revision"))["at"] or 0)
    shared_scripts.cache_clear()
    belonging.cache_clear()


def ended(started):
    done = {"ok": True, "result": None}
    return [(each, SharedRun(each, time.monotonic()).result(done)) for each in started]


@pytest.mark.only_on("postgresql")
def test_held_jobs_are_found_by_their_ids(crowded):
    """Neither among all that wait, nor among the remains of all that their slots have held."""
    free = list(crowded.slots.values())
    reserved = crowded.reserve(free, Belonging(""))
    begin = crowded._asked(free, Belonging(""))
    others = {**begin, "jobs": json.dumps([each.job.id for each in reserved])}
    finish = crowded._facts_of(ended(reserved), dialect())
    asked = {
        sql.start_and_record: others,
        sql.still_ours: others,
        sql.begin_each: begin,
        sql.finish_postgresql: finish,
    }
    for statement, parameters in asked.items():
        plan = plan_of(statement(dialect()), parameters)
        assert "queues_queuedjob_pkey" in plan, plan
        assert "job_by_script_and_status" not in plan, plan
        assert "job_held_by_slot" not in plan, plan


@pytest.mark.only_on("postgresql")
def test_the_first_of_many_are_found_by_their_index_though_none_waited_before(crowded):
    """Statistics are from then: to read all by another index and to sort them seems as cheap."""
    slot = crowded.slots.popitem()[1]
    with atomic():
        before = rows_read()
        assert len(reserve(slot, 1).jobs) == 1
        assert rows_read() - before < 50
        assert slot.leave() == [""]
        assert rows_read() - before < 100


def rows_read():
    """Return how many rows of jobs this transaction has read."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables"
            " WHERE relname = 'queues_queuedjob'"
        )
        return cursor.fetchone()[0]


def plan_of(statement, parameters):
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}", parameters)
        return "\n".join(row[0] for row in cursor.fetchall())


def test_ends_and_starts_of_many_jobs_are_written_together(
    holding, shared_act, django_assert_num_queries
):
    """PostgreSQL needs one message for both, SQLite one for the starts besides."""
    free = list(holding.slots.values())
    before = holding.start(holding.reserve(free, shared_act))
    _, reserved = holding.record_and_reserve(ended(before), free, shared_act)
    first = holding.start(reserved)
    is_one_message = connection.vendor == "postgresql"
    with django_assert_num_queries(1) if is_one_message else nullcontext():
        accepted, reserved = holding.record_and_reserve(ended(first), free, shared_act)
    assert accepted == {each.job.id for each in first}
    assert [each.is_begun for each in reserved] == [is_one_message] * HELD
    assert holding.start(reserved) == reserved
    ids = [each.job.id for each in reserved]
    running = Run.objects.filter(job_id__in=ids, outcome="running", attempt=1)
    assert running.count() == QueuedJob.objects.filter(pk__in=ids, status="progress").count() == 5
    assert {each.job.attempt for each in reserved} == {0}


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize(
    "change", [{"suspect": True}, {"script": "other"}, {"parent": 1}, {"expires_at": Now()}]
)
def test_a_job_that_has_to_run_elsewhere_is_reserved_only(holding, shared_act, change):
    QueuedJob.objects.filter(status="pending").update(**change)
    asked = holding._asked(list(holding.slots.values()), shared_act)
    rows = execute(sql.begin_each(dialect()), asked).rows
    assert [row[-1] for row in rows] == ["pending"] * HELD
    assert not Run.objects.exists()


@pytest.mark.only_on("postgresql")
def test_nothing_begins_by_what_was_known_of_an_earlier_revision(holding, shared_act):
    earlier = replace(shared_act, revision=shared_act.revision - 1)
    reserved = holding.reserve(list(holding.slots.values()), earlier)
    assert [each.is_begun for each in reserved] == [False] * HELD


def test_a_bell_that_was_answered_may_ring_again(holding):
    """Of slots that others hold, and of those that nobody answered for, nothing changes."""
    now = database_now()
    holding.release([slot for slot in holding.slots.values() if slot.number == 0])
    Slot.objects.update(rung_at=now)
    holding.unring({0, 1})
    rung = Slot.objects.filter(queue_id=holding.queue_id).order_by("number")
    assert list(rung.values_list("rung_at", flat=True)) == [None, *[now] * (HELD - 1)]


def test_jobs_of_a_script_with_limits_share_no_process(probe):
    scripts = Script.objects.filter(service__mount=probe, name="act")
    scripts.update(threads=100)
    shared_scripts.cache_clear()
    assert shared_scripts(1)[probe, "act"] == 100
    scripts.update(limits=[{"per": "script", "at_once": 1}])
    assert (probe, "act") not in shared_scripts(2)
