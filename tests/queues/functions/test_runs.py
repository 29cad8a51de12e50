"""Run declared functions in a child, with everything that holds for scripts."""

from dataclasses import replace

import pytest

import queues
from allocation.transactions import Client
from queues.functions.rows import store_all
from queues.models import Catalogue, QueuedJob, Run, RunLog
from tests.queues.functions import elsewhere
from tests.queues.functions.conftest import SHOP
from tests.queues.inline_worker import Hands

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def queue(shop):
    store_all()
    return queues.create("orders")


@pytest.fixture
def drain(queue):
    worker = Hands()
    yield worker.drain
    worker.close()


def test_a_function_runs_with_its_arguments(queue, drain, shop):
    ids = [queue.push(shop.add, 1), queue.push(shop.add, b=5, a=1), queue.push(shop.later, 4)]
    drain()
    assert [queue.get(each).result for each in ids] == [3, 6, 8]
    assert RunLog.objects.get().text == "from the loop"


def test_arguments_of_every_kind_arrive(queue, drain, shop):
    address = {"street": "Main", "zip": 1}
    first = queue.push(shop.typed, "a", address, ["t"], False, 1.5, 2, more=3)
    second = queue.push(shop.typed, "b")
    drain()
    assert queue.get(first).result == ["a", address, ["t"], False, [1.5, 2], {"more": 3}]
    assert queue.get(second).result == ["b", None, None, True, [], {}]


def test_a_failure_is_retried_as_declared(queue, drain, shop):
    job_id = queue.push(shop.fail, "broken")
    drain()
    job = queue.get(job_id)
    assert (job.status, job.failures) == ("failed", ["ValueError: broken"] * 3)
    assert Run.objects.filter(job_id=job_id).count() == 3


def test_what_a_function_writes_stands_with_its_success(queue, drain, shop):
    job_id = queue.push(shop.write, "order-1")
    queue.push(shop.write, "order-2", also_fail=True)
    drain()
    assert queue.get(job_id).result == 1
    assert Client().get("shop", "order-1").json == {"by": job_id}
    assert Client().get("shop", "order-2").status_code == 404
    assert Run.objects.get(job_id=job_id).note == "half"
    pushed = QueuedJob.objects.exclude(queue__name="orders").get()
    assert (pushed.script, pushed.data) == ("add", {"a": 1, "b": 5})


def test_a_function_hears_how_a_run_ended(queue, drain, shop, tmp_path):
    file = str(tmp_path / "marks")
    queue.push(shop.mark, file, success=shop.called_back)
    drain()
    assert (tmp_path / "marks").read_text().splitlines()[1:] == ["marked mark"]


def test_a_time_out_ends_a_function(queue, drain, shop, tmp_path):
    job_id = queue.push(shop.stay, str(tmp_path / "marks"), timeout=1000)
    drain()
    (failure,) = queue.get(job_id).failures
    assert failure.endswith("timed out after 1s")


PLANTED = [("os", "system"), (SHOP, "_hidden"), (SHOP, "os.system"), ("", "os:system")]
PLANTED += [("", f"{SHOP}:_hidden"), (elsewhere.__name__, "undeclared"), ("this", "s")]


@pytest.mark.parametrize(("mount", "script"), PLANTED)
def test_whatever_stands_in_a_row_only_declared_functions_are_called(
    queue, drain, shop, tmp_path, mount, script
):
    file = tmp_path / "called"
    job_id = queue.push(shop.add, 1)
    planted = {"mount": mount, "script": script, "data": f"touch {file}"}
    QueuedJob.objects.filter(pk=job_id).update(**planted)
    drain()
    job = QueuedJob.objects.get(pk=job_id)
    assert (job.status, job.result) == ("failed", None)
    assert "ScriptNotFound" in job.error
    assert not file.exists()


def test_a_planted_callback_and_back_off_call_nothing(queue, drain, shop, tmp_path):
    planted = {"function": "os:system"}
    job_id = queue.push(shop.fail, f"touch {tmp_path / 'called'}", max_failures=1)
    QueuedJob.objects.filter(pk=job_id).update(failure=planted, back_off=planted)
    drain()
    assert "back_off: ScriptNotFound" in RunLog.objects.first().text
    QueuedJob.objects.filter(pk=job_id).update(due_at="2000-01-01T00:00Z")
    drain()
    callback = QueuedJob.objects.exclude(parent=None).get()
    assert (callback.status, "ScriptNotFound" in callback.error) == ("failed", True)
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize("may_sign", [False, True])
def test_a_function_signs_if_the_setting_lets_it(queue, drain, shop, settings, may_sign):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, task_secret_key=may_sign)
    job = queue.get(queue.push(shop.sign, "text"))
    drain()
    failed = (["ImproperlyConfigured: The SECRET_KEY setting must not be empty."], None)
    assert (job.failures, job.result) == (([], True) if may_sign else failed)


def test_services_that_change_leave_functions_alone(queue, drain, shop):
    first = queue.push(shop.add, 1)
    drain()
    Catalogue.objects.changed()
    second = queue.push(shop.add, 2)
    drain()
    assert [queue.get(each).result for each in (first, second)] == [3, 4]
