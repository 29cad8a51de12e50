"""Keys take turns, by their weights, below priorities; the price does not grow with what waits."""

from collections import Counter

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

import queues
from atributo_site.core.database import dialect, execute
from queues.flow.sql import statements as sql
from queues.links.sql import statements as links
from queues.logic.flow.admission import Admission, Candidate, WaitingJob
from queues.logic.flow.limits import Limit, parsed
from queues.models import Flow, Gate, QueuedJob
from queues.runs.reservation import reserve, wake_given_back
from queues.runs.slots import acquire

SECOND_US = 1_000_000
GENERIC = "force_generic_plan"


@pytest.fixture
def slot(queue):
    """slot() → the one slot of the queue, as whoever takes it now finds it."""
    return lambda: acquire(queue.name, 0, "hands")


def started(slot, count, most=1):
    """The keys of the next jobs, taken and ended one reservation after the other."""
    keys = []
    for _ in range(count):
        batch = reserve(slot, most)
        keys += [job.flow_key for job in batch.jobs]
        ids = [job.id for job in batch.jobs]
        QueuedJob.objects.filter(pk__in=ids).update(
            status="complete", slot=None, slot_epoch=None, ended_at=Now()
        )
    return keys


def test_a_backlog_of_one_key_does_not_delay_another(queue, act, slot):
    queue.push_many(act, list(range(50)), flow_key="a")
    held = slot()
    started(held, 5)
    queue.push(act, flow_key="b")
    assert "b" in started(held, 2)


def test_keys_get_their_weights(queue, act, slot):
    queues.set_weights("work", {"a": 3})
    for key in "ab":
        queue.push_many(act, list(range(40)), flow_key=key)
    assert Counter(started(slot(), 16))["a"] == 12


def test_priorities_stay_above_fairness(queue, act, slot):
    queue.push_many(act, [1, 2], flow_key="a")
    held = slot()
    started(held, 1)
    urgent = queue.push(act, flow_key="a", priority=1)
    queue.push(act, flow_key="b")
    assert [job.id for job in reserve(held, 1).jobs] == [int(urgent)]


def test_jobs_without_a_key_take_turns_too(queue, act, slot):
    plain = queue.push_many(act, [1, 2, 3])
    queue.push_many(act, [1, 2, 3], flow_key="a")
    assert Counter(started(slot(), 6)) == {"": 3, "a": 3}
    assert {queue.get(each).status for each in plain} == {"complete"}


def test_without_limits_push_and_reservation_are_the_statements_of_before(queue, act, slot):
    queue.push(act)
    held = slot()
    reserve(held, 1)  # what a process remembers is read
    held.give_back()
    with CaptureQueriesContext(connection) as pushing:
        queue.push(act)
    with CaptureQueriesContext(connection) as reserving:
        assert len(reserve(held, 10).jobs) == 2
    made = [each["sql"] for each in (*pushing, *reserving)]
    # PostgreSQL shows prepared names; the one without parameters looks for ids.
    hot = [text for text in made if "queues_queuedjob" in text or text.startswith("EXECUTE")]
    hot = [text for text in hot if "(" in text]
    assert len(hot) == 2
    assert not [text for text in made if "queues_flow" in text or "queues_gate" in text]


def test_a_job_that_is_given_back_keeps_its_priority_in_its_flow(queue, act, slot):
    urgent = queue.push(act, None, flow_key="a", priority=2)
    other = queue.push(act, None, flow_key="a")
    held = slot()
    batch = reserve(held, 1)
    held.give_back()
    wake_given_back(held.queue_id, batch.jobs)
    assert [job.id for job in reserve(held, 2).jobs] == [int(urgent), int(other)]


PLANS = {
    "flow_ready": (
        sql.READY,
        {"queue_id": 1, "station": "", "mount": "/m", "script": "s", "flows": 16},
    ),
    "flow_wakes": (sql.to_wake, {"queue_id": 1, "limit": 10}),
    "job_held_by_slot": (
        lambda d: sql.held(d, everywhere=False),
        {"queue_id": 1},
    ),
    "job_waiting_in_flow": (
        lambda d: (sql.candidates if d.lock else sql.first_jobs)(d, of_station=True),
        {"queue_id": 1, "station": "a", "flows": 1, "jobs": 5, "closed": "{}"},
    ),
}


@pytest.mark.parametrize("index", PLANS)
def test_an_index_answers_each_step_of_a_reservation(index, queue, act):
    for key in "abcdefgh":  # what an earlier test left decides about the plan of an empty table
        queue.push_many(act, [None] * 100, flow_key=key)
    statement, given = PLANS[index]
    text = statement if isinstance(statement, str) else statement(dialect())
    plan = explained(text, given)
    assert index in plan
    assert "SCAN queues_queuedjob" not in plan and "Seq Scan" not in plan


@pytest.mark.only_on("sqlite")
def test_the_walk_over_scripts_steps_over_the_flows_of_each(queue):
    plan = explained(sql.ready_scripts(dialect()), {"queue_id": 1, "station": ""})
    assert "(queue_id=? AND station=? AND mount=? AND script>?)" in plan
    assert "(queue_id=? AND station=? AND mount>?)" in plan


@pytest.mark.only_on("sqlite")
def test_the_turn_of_a_few_keys_reads_only_their_flows(queue):
    plan = explained(sql.move_on(dialect()), {"queue_id": 1, "times": "[]"})
    assert "(queue_id=? AND key=?)" in plan and "(rowid=?)" in plan


@pytest.mark.only_on("postgresql")
def test_no_plan_made_behind_the_gate_sorts_the_jobs_of_a_flow(queue, act):
    """A plan made while hardly any job waits would read all of them when many do."""
    queue.push(act, None, flow_key="a")
    asked = {"queue_id": Gate.objects.get().queue_id, "station": "", "closed": "{}"}
    given = {**asked, "flows": 16, "jobs": 16}
    with atomic():
        execute(sql.lock_gate(dialect()), given)
        assert "Sort" not in explained(sql.candidates(dialect(), of_station=False), given)
        assert (setting("enable_sort"), setting("plan_cache_mode")) == ("off", GENERIC)
    assert (setting("enable_sort"), setting("plan_cache_mode")) == ("on", "auto")


@pytest.mark.only_on("postgresql")
@pytest.mark.parametrize("statement", [sql.take, sql.adopt, links.fail, links.release, links.block])
def test_no_plan_for_jobs_that_are_named_reads_all_that_wait(statement, queue, act):
    """While statistics know of few, each index of waiting jobs looks as good as their ids."""
    queue.push_many(act, [None] * 2000, flow_key="a")
    given = {"slot_id": 1, "epoch": 1, "ran_on": "", "flow_id": 1, "station": "", "ids": "{1,2}"}
    given |= {"error": "", "fingerprint": "", "far": "2030-01-01"}
    with atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement(dialect())}", given)
        plan = "\n".join(str(row) for row in cursor.fetchall())
    assert "job_waiting" not in plan


def setting(name):
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return cursor.fetchone()[0]


def explained(statement, given):
    given = {name: value for name, value in given.items() if f"%({name})s" in statement}
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE queues_queuedjob, queues_flow")
            cursor.execute("SET enable_seqscan = off")
            cursor.execute("SET enable_bitmapscan = off")
        how = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
        cursor.execute(f"{how} {statement}", given)
        lines = "\n".join(str(row) for row in cursor.fetchall())
        if connection.vendor == "postgresql":
            cursor.execute("RESET enable_seqscan")
            cursor.execute("RESET enable_bitmapscan")
    return lines


def test_a_walk_over_flows_enters_the_index_once_for_each(queue, act):
    queue.push_many(act, list(range(20)), flow_key="a")
    assert Flow.objects.count() == 1


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(-2, 2)), max_size=30),
    st.integers(1, 3),
    st.integers(1, 5),
)
def test_admission_never_exceeds_a_limit_and_loses_nothing(jobs, per_key, of_queue):
    limits = (Limit("key", at_once=per_key), Limit("queue", at_once=of_queue))
    flows = {}
    for number, (key, rank) in enumerate(jobs):
        flows.setdefault(key, []).append(WaitingJob(number, rank))
    candidates = [
        Candidate(n, key, "/m/s", 0.0, sorted(of_key, key=lambda job: job.rank))
        for n, (key, of_key) in enumerate(flows.items())
    ]
    admission = Admission("1", "host", 0, limits)
    admission.admit(candidates, 30)
    counts = Counter(jobs[number][0] for number in admission.taken)
    assert max(counts.values(), default=0) <= per_key
    possible = sum(min(per_key, len(of_key)) for of_key in flows.values())
    assert len(admission.taken) == len(set(admission.taken)) == min(of_queue, possible)


@given(st.integers(1, 100), st.integers(1, 10), st.lists(st.integers(0, 3 * SECOND_US)))
def test_a_rate_is_within_one_token_of_the_exact_bucket(number, burst, gaps):
    (limit,) = parsed([{"per": "key", "rate": f"{number}/s", "burst": burst}])
    full_at, now, tokens, last = 0, SECOND_US * 10, float(burst), SECOND_US * 10
    for gap in gaps:
        now += gap
        tokens = min(float(burst), tokens + (now - last) * number / SECOND_US)
        last = now
        allowed = limit.opens_at(full_at) <= now
        assert allowed is (tokens >= 1) or abs(tokens - 1) < 0.01
        if allowed:
            full_at = limit.after_start(full_at, now)
            tokens -= 1
