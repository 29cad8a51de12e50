"""Push: what is stored, what is refused."""

import math
from datetime import UTC, datetime, timedelta
from functools import reduce

import pytest
from django.db import connection
from django.db.transaction import atomic
from django.test.utils import CaptureQueriesContext

import queues
from queues.errors import BadPush, DataRefused, InvalidJobId, JobNotFound, QueueNotFound
from queues.jobs import push
from queues.models import QueuedJob, Slot
from tests.factories.statements import about_queues

TOMORROW = timedelta(days=1)


def test_a_delayed_job_waits_with_its_defaults(queue, act, hands):
    job = queue.get(queue.push(act, {"to": "x"}, delay_until=datetime.now(UTC) + TOMORROW))
    hands.drain()
    assert (job.status, job.runs, job.failures, job.data) == ("pending", 0, [], {"to": "x"})
    assert (job.max_failures, job.repeat_times, job.repeat_delay) == (0, 0, 0)
    assert job.repeat_until is None


def test_a_push_without_a_script_is_refused(queue):
    with pytest.raises(BadPush, match="Must pass a job type!"):
        queue.push(None, {})


def test_preprocessed_data_is_what_is_stored(queue, act):
    script = {**act, "preprocess": lambda data: data * 2}
    assert queue.get(queue.push(script, 21)).data == 42


def test_data_against_the_schema_stores_nothing(queue, act):
    script = {**act, "schema": {"type": "integer"}}
    with pytest.raises(DataRefused):
        queue.push(script, "text")
    assert queue.all() == []


def test_the_installed_schema_checks_and_fills_in(queue, probe):
    checked = {"mount": probe, "name": "checked"}
    with pytest.raises(DataRefused, match="n"):
        queue.push(checked, {"n": "seven"})
    assert queue.get(queue.push(checked, {})).data == {"n": 7}


def test_options_of_the_manifest_take_effect_and_those_of_push_win(queue, probe):
    stubborn = {"mount": probe, "name": "stubborn"}
    plain, own, zero = (
        queue.get(queue.push(stubborn)),
        queue.get(queue.push({**stubborn, "max_failures": 5})),
        queue.get(queue.push({**stubborn, "max_failures": 5}, max_failures=0)),
    )
    assert [job.max_failures for job in (plain, own, zero)] == [2, 5, 0]
    assert plain.repeat_times == 1


@pytest.mark.parametrize("value", [-1, -2, math.inf])
def test_any_endless_number_is_stored_alike(queue, act, value):
    assert queue.get(queue.push(act, max_failures=value)).max_failures == -1


DEEP = reduce(lambda inner, _: {"a": [inner]}, range(50), [1])
NO_DATA = [math.nan, {1, 2}, "\x00", "\ud800", object(), 2_000_000 * "x", DEEP]


@pytest.mark.parametrize("data", NO_DATA, ids=range(7))
def test_data_that_is_not_json_is_refused(queue, act, data):
    with pytest.raises(BadPush):
        queue.push(act, data)
    assert queue.all() == []


def test_a_backslash_and_u0000_is_a_text_like_any_other(queue, act):
    assert queue.get(queue.push(act, "\\u0000")).data == "\\u0000"


NO_SCRIPTS = [{"mount": "x", "name": "a"}, {"mount": "/a", "name": ""}, "a", {"mount": "/a"}]
NO_SCRIPTS += [{"mount": "/a", "name": "\ud800"}, {"mount": 5, "name": [1]}]


@pytest.mark.parametrize("script", NO_SCRIPTS)
def test_a_script_must_be_named(queue, act, script):
    with pytest.raises(BadPush):
        queue.push(script)
    with pytest.raises(BadPush):
        queue.push(act, success=script)


BROKEN = [{"schema": 5}, {"schema": {"type": "no"}}, {"schema": {"$ref": "#/no"}}]


@pytest.mark.parametrize("part", [*BROKEN, {"schema": {"const": {1}}}, {"preprocess": 5}])
def test_what_a_script_carries_must_work(queue, act, part):
    with pytest.raises(BadPush):
        queue.push({**act, **part}, 1)


def test_a_job_is_looked_for_in_its_own_queue(queue, act):
    job_id, other = queue.push(act, delay=60_000), queues.create("other")
    assert other.delete(job_id) is False
    with pytest.raises(JobNotFound):
        other.get(job_id).abort()
    assert queue.get(job_id).status == "pending"


def test_a_closure_cannot_be_a_callback(queue, act):
    with pytest.raises(BadPush, match="top level"):
        queue.push(act, success=lambda result: None)


def test_a_unique_key_is_pushed_once_while_unfinished(queue, act, hands):
    first = queue.push(act, unique_key="report")
    assert queue.push(act, unique_key="report") == first
    hands.drain()
    assert queue.push(act, unique_key="report") != first


def test_a_unique_key_is_pushed_once_while_its_queue_is_paused(queue, act):
    queues.catalogue.pause("work")
    assert queue.push(act, unique_key="report") == queue.push(act, unique_key="report")


def test_many_are_pushed_in_order(queue, act):
    ids = queue.push_many(act, list(range(100)), priority=1)
    assert queue.all() == ids
    assert queue.get(ids[41]).data == 41


def test_many_or_none(queue, act):
    with pytest.raises(BadPush, match="number 3 of 3: data must be JSON"):
        queue.push_many(act, [1, 2, math.nan])
    assert queue.all() == []


def test_push_many_needs_the_same_number_of_statements_for_any_number(queue, act):
    queue.push_many(act, [0])  # takes this process's number for ids
    with CaptureQueriesContext(connection) as few:
        queue.push_many(act, list(range(10)))
    with CaptureQueriesContext(connection) as many:
        queue.push_many(act, list(range(3000)))
    assert len(many) <= len(few)


def test_a_statement_of_a_bulk_push_takes_a_bounded_part_of_its_data(queue, act, monkeypatch):
    monkeypatch.setattr(push, "LARGEST_STATEMENT", 100)
    datas = ["x" * 30, "x" * 60, "x" * 500, "x" * 90, None, "x"]
    sent = []

    def noted(execute, sql, parameters, *rest):
        sent.append(repr(parameters))
        return execute(sql, parameters, *rest)

    with connection.execute_wrapper(noted):
        ids = queue.push_many(act, datas)
    assert [queue.get(job_id).data for job_id in ids] == datas
    assert sum("xxx" in parameters for parameters in sent) == 3
    assert queue.push_many(act, []) == []


def test_a_push_that_rolls_back_never_was(queue, act, redis_connection):
    with pytest.raises(ZeroDivisionError), atomic():
        queue.push(act)
        1 / 0  # noqa: B018
    assert queue.all() == []
    assert not Slot.objects.exclude(rung_at=None).exists()
    assert redis_connection.llen("rq:queue:atributo-bells-first") == 0


def test_a_push_rings_when_it_commits(queue, act, redis_connection):
    with atomic():
        queue.push(act)
        assert redis_connection.llen("rq:queue:atributo-bells-first") == 0
    assert redis_connection.llen("rq:queue:atributo-bells-first") == 1


def test_one_job_rings_at_one_slot(probe, act):
    queues.create("wide", max_workers=3).push(act)
    assert Slot.objects.exclude(rung_at=None).count() == 1


def test_bells_never_outnumber_slots(probe, act, redis_connection):
    queue = queues.create("wide", max_workers=3)
    for _ in range(20):
        queue.push(act)
    assert redis_connection.llen("rq:queue:atributo-bells-first") == 1
    assert redis_connection.llen("rq:queue:atributo-bells") == 2


def test_a_push_to_a_missing_queue_is_refused(queue, act):
    queues.delete("work")
    with pytest.raises(QueueNotFound):
        queue.push(act)


@pytest.mark.parametrize("script", ["a", {"mount": "/probe"}])
def test_a_list_is_filtered_by_mount_and_name_only(queue, script):
    with pytest.raises(BadPush, match="named by its mount and name"):
        queue.pending(script)


def test_lists_are_by_due_time_and_by_name_and_mount(queue, act):
    now = datetime.now(UTC)
    late = queue.push(act, delay_until=now + TOMORROW)
    soon = queue.push(act, delay_until=now + TOMORROW / 2)
    other = queue.push({**act, "mount": "/other"})
    assert queue.pending(act) == [soon, late]
    assert queue.all() == [other, soon, late]
    assert queue.progress() == queue.complete() == queue.failed() == []


def test_a_job_id_is_a_text_of_digits(queue):
    for wrong in (1, "", "x", "1" * 20, None):
        with pytest.raises(InvalidJobId, match="Invalid job id"):
            queue.get(wrong)
    with pytest.raises(JobNotFound):
        queue.get("12345").status  # noqa: B018


def test_deleting_a_job_says_whether_it_was_there(queue, act):
    job_id = queue.push(act)
    assert queue.delete(job_id) is True
    assert queue.delete(job_id) is False
    assert not QueuedJob.objects.exists()


def test_many_are_stored_as_one_is(queue, act):
    odd = [None, [], "", 'a "quote" and a \\', "é 😀 \u2028", {"deep": [{"n": 2**53}]}, -0.5, True]
    alone = [queue.get(queue.push(act, data)).data for data in odd]
    assert [queue.get(job).data for job in queue.push_many(act, odd)] == alone == odd


def test_a_push_to_a_queue_that_was_called_is_one_statement(queue, act):
    for _ in range(2):  # the first rings, and what is prepared is prepared
        queue.push(act)
    with CaptureQueriesContext(connection) as seen:
        queue.push(act)
    assert len(about_queues(seen)) == 1
    Slot.objects.update(rung_at=None)
    queue.push(act)
    assert Slot.objects.filter(queue__name="work", rung_at__isnull=False).count() == 1
