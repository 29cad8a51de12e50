"""Enqueue tasks and read their results, as the API says."""

import asyncio
import math
from datetime import UTC, datetime
from importlib import import_module

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from queues.errors import DataRefused
from queues.jobs import actions
from queues.models import QueuedJob
from queues.tasks.library import invalid, library, part
from queues.tasks.priorities import from_ours, to_ours
from queues.tasks.results import class_path
from tests.queues.tasks.conftest import SHOP

api = import_module(library())
default_task_backend, task = api.default_task_backend, api.task
TaskResultStatus = part("base").TaskResultStatus
TaskResultDoesNotExist = part("exceptions").TaskResultDoesNotExist
TaskResultMismatch = part("exceptions").TaskResultMismatch
InvalidTask = type(invalid(""))
LATER = datetime(2999, 1, 1, tzinfo=UTC)
READY, SUCCESSFUL, FAILED = (
    TaskResultStatus.READY,
    TaskResultStatus.SUCCESSFUL,
    TaskResultStatus.FAILED,
)


def test_an_enqueued_task_is_a_job(shop):
    result = shop.noop.enqueue(1, two=3)
    assert (result.status, result.args, result.kwargs) == (READY, [1], {"two": 3})
    assert (result.task, result.attempts, result.is_finished) == (shop.noop, 0, False)
    job = QueuedJob.objects.get(pk=result.id)
    assert (job.mount, job.script, job.queue.name) == (SHOP, "noop", "default")
    again = default_task_backend.get_result(result.id)
    assert (again.args, again.kwargs, again.enqueued_at) == ([1], {"two": 3}, job.created_at)
    with pytest.raises(ValueError, match="not finished"):
        _ = again.return_value


def test_a_result_tells_how_a_task_ended(shop, drain):
    result, other = shop.meaning.enqueue(), shop.ameaning.enqueue(number=5)
    drain()
    result.refresh()
    other.refresh()
    assert (result.status, result.return_value, other.return_value) == (SUCCESSFUL, 42, 5)
    assert (result.worker_ids, result.attempts, result.errors) == (["hands"], 1, [])
    assert result.enqueued_at <= result.started_at <= result.finished_at
    assert result.last_attempted_at == result.started_at


def test_errors_have_their_class_and_traceback(shop, drain):
    result = shop.ours.enqueue("gone")
    drain()
    result.refresh()
    assert (result.status, result.attempts, len(result.errors)) == (FAILED, 3, 3)
    assert {each.exception_class for each in result.errors} == {shop.OutOfStock}
    assert "OutOfStock: gone" in result.errors[0].traceback
    with pytest.raises(ValueError, match="failed"):
        _ = result.return_value


def test_a_result_that_is_no_json_is_a_failure(shop, drain):
    result = shop.returns_no_json.enqueue()
    drain()
    result.refresh()
    assert (result.status, result.errors[0].exception_class) == (FAILED, TypeError)


def test_a_task_that_takes_context_sees_its_attempt(shop, drain):
    result = shop.attempts.using(max_failures=3, back_off=0).enqueue(2)
    drain()
    result.refresh()
    assert result.return_value == [2, 2, "RUNNING", True]
    assert result.errors[0].exception_class is shop.OutOfStock


def test_an_aborted_task_says_so(shop):
    result = shop.meaning.enqueue()
    actions.abort(int(result.id))
    result.refresh()
    assert (result.status, result.errors[0].exception_class) == (FAILED, asyncio.CancelledError)


def test_tasks_are_deferred_and_ordered(shop):
    result = shop.ameaning.using(run_after=LATER).enqueue()
    job = QueuedJob.objects.get(pk=result.id)
    assert (job.due_at, job.priority) == (LATER, 2)
    assert QueuedJob.objects.get(pk=shop.ours.enqueue("x").id).priority == -2


def test_options_of_ours_are_keywords_of_a_task(shop):
    job = QueuedJob.objects.get(pk=shop.with_options.enqueue("x").id)
    assert (job.queue.name, job.max_failures, job.sticky_key) == ("mail", 1, "printer")
    other = shop.with_options.using(sticky_key="desk", unique_key="u", queue_name="default")
    job = QueuedJob.objects.get(pk=other.enqueue("x").id)
    assert (job.queue.name, job.sticky_key, job.unique_key) == ("default", "desk", "u")
    counted = shop.meaning.using(flow_key="acme", limits=[{"per": "key", "at_once": 1}])
    job = QueuedJob.objects.get(pk=counted.enqueue().id)
    assert (job.flow_key, job.limits) == ("acme", [{"per": "key", "at_once": 1}])
    with pytest.raises(TypeError, match="max_failure"):
        shop.ours.using(max_failure=3)


def test_our_decorator_enqueues_too(shop):
    job = QueuedJob.objects.get(pk=shop.ours.enqueue("x").id)
    assert (job.queue.name, job.max_failures, job.data) == ("mail", 2, {"text": "x"})
    assert shop.ours.get_result(str(job.pk)).task.func is shop.ours.func


def test_coroutines_do_the_same(shop):
    async def both():
        result = await shop.meaning.aenqueue()
        return result, await shop.meaning.aget_result(result.id)

    result, again = asyncio.run(both())
    assert result.id == again.id


def test_a_result_belongs_to_its_task(shop):
    result = shop.meaning.enqueue()
    with pytest.raises(TaskResultMismatch):
        shop.noop.get_result(result.id)
    for unknown in ("1", "x", "", "9" * 30):
        with pytest.raises(TaskResultDoesNotExist):
            shop.noop.get_result(unknown)


def test_the_job_of_a_script_is_no_task(shop):
    import queues

    job_id = queues.get("default").push({"mount": "/probe", "name": "act"})
    with pytest.raises(TaskResultDoesNotExist):
        default_task_backend.get_result(job_id)


def module_level(context):
    """Declared by the tests below, in a module that no worker loads."""


def test_what_cannot_be_enqueued_is_refused_and_leaves_no_row(shop):
    with pytest.raises(InvalidTask, match="Queue does not exist: nowhere"):
        shop.noop.using(queue_name="nowhere").enqueue()
    with pytest.raises(InvalidTask, match="not valid for backend"):
        shop.noop.using(queue_name="other")
    with pytest.raises(InvalidTask, match="no worker looks"):
        task(module_level).enqueue(1)
    with pytest.raises(InvalidTask, match="unexpected keyword argument 'x'"):
        shop.meaning.enqueue(x=1)
    with pytest.raises(InvalidTask, match="sticky_key cannot be allocated"):
        shop.noop.using(sticky_key="a/b\n").enqueue()
    with pytest.raises(TypeError):
        shop.noop.enqueue(object())
    circle: list = []
    circle.append(circle)
    with pytest.raises(TypeError, match="contain themselves"):
        shop.noop.enqueue(circle)
    with pytest.raises(InvalidTask, match="JSON"):
        shop.noop.enqueue(math.nan)
    with pytest.raises(DataRefused):
        shop.ours.enqueue(5)
    assert not QueuedJob.objects.exists()


def test_what_cannot_be_a_task_is_refused(shop):
    with pytest.raises(InvalidTask, match="module level"):
        task(lambda: 1)
    refusal = InvalidTask if shop.takes_options else ImproperlyConfigured
    with pytest.raises(refusal, match="max_failures must be a number"):
        shop.task_with_options(max_failures="many")(test_what_cannot_be_a_task_is_refused)
    with pytest.raises(InvalidTask, match="priority must be"):
        task(priority=101)(module_level)


@given(st.integers(-100, 100), st.integers(-100, 100))
def test_priorities_keep_their_order(one, other):
    assert -2 <= to_ours(one) <= 2
    assert not one < other or to_ours(one) <= to_ours(other)
    assert to_ours(from_ours(to_ours(one))) == to_ours(one)


@pytest.mark.parametrize(
    ("error", "trace", "path"),
    [
        ("ValueError: x", "Traceback\n  File\nValueError: x\n", "builtins.ValueError"),
        ("E: x", "no.such.module.Error: x", "builtins.Exception"),
        ("E: x", "os.system: x", "builtins.Exception"),
        ("the process was killed", "", "builtins.Exception"),
        ("timed out after 5ms", "", "builtins.TimeoutError"),
    ],
)
def test_no_module_is_imported_because_a_row_names_it(error, trace, path):
    assert class_path(error, trace) == path
