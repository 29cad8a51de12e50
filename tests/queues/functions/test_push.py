"""Push declared functions; everything else is refused, and leaves no row."""

import math
from datetime import UTC, datetime

import pytest

import queues
from queues.errors import BadPush, DataRefused, QueueNotFound
from queues.models import QueuedJob, Service
from tests.queues.functions import elsewhere
from tests.queues.functions.conftest import SHOP

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def queue(shop):
    return queues.create("orders")


def test_arguments_are_stored_by_their_names(queue, shop):
    job = queue.get(queue.push(shop.add, 1, b=5))
    assert (job.type, job.data) == ({"mount": SHOP, "name": "add"}, {"a": 1, "b": 5})


def test_options_of_a_push_outrank_those_of_the_declaration(queue, shop):
    plain = queue.get(queue.push(shop.fail))
    assert (plain.max_failures, plain.data) == (2, {})
    assert queue.get(queue.push(shop.fail, "x", max_failures=7)).max_failures == 7


def test_every_option_works_with_a_function(queue, shop):
    moment = datetime(2999, 1, 1, tzinfo=UTC)
    given = {"delay_until": moment, "repeat_times": 3, "repeat_delay": 1000, "priority": 2}
    first = queue.push(shop.add, 1, unique_key="one", **given)
    assert queue.push(shop.add, 1, unique_key="one") == first
    job = queue.get(first)
    assert (job.delay_until, job.repeat_times, job.repeat_delay) == (moment, 3, 1000)
    assert queue.pending(shop.add) == [first]
    assert queue.pending(shop.fail) == []


def test_a_function_may_be_a_callback_and_a_back_off(queue, shop):
    script = {"mount": "/any", "name": "script"}
    ways = {"success": shop.called_back, "failure": shop.called_back}
    job_id = queue.push(script, back_off=shop.wait_a_minute, **ways)
    row = QueuedJob.objects.get(pk=job_id)
    assert row.success == row.failure == {"mount": SHOP, "name": "called_back"}
    assert row.back_off == {"mount": SHOP, "name": "wait_a_minute"}


def test_a_listed_module_declares_its_public_functions(queue, shop):
    assert queue.get(queue.push(shop.plain, "x")).data == {"text": "x"}
    with pytest.raises(BadPush, match="_hidden is not declared: decorate a"):
        queue.push(shop._hidden)


UNDECLARED = [elsewhere.undeclared, math.sqrt, print, len, lambda: 1, dict, object()]


@pytest.mark.parametrize("function", UNDECLARED, ids=range(7))
def test_what_is_not_declared_is_refused(queue, function):
    with pytest.raises(BadPush, match="declared"):
        queue.push(function)
    with pytest.raises(BadPush):
        queue.push({"mount": "/any", "name": "script"}, success=function)
    assert not QueuedJob.objects.exists()


def test_a_function_that_no_worker_would_know_is_refused(queue):
    with pytest.raises(BadPush, match="declared where no worker looks.*ATRIBUTO_TASK_MODULES"):
        queue.push(elsewhere.declared_elsewhere)
    assert queue.all() == []


NAMES = [("os", "system"), (SHOP, "_hidden"), (SHOP, "task"), (SHOP, "os"), ("shop", "add")]
NAMES += [("tests.queues.functions.elsewhere", "declared_elsewhere")]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_name_alone_declares_nothing(queue, module, name):
    named = {"mount": module, "name": name}
    for options in ({"success": named}, {"back_off": named}, {"failure": named}):
        with pytest.raises(BadPush):
            queue.push({"mount": "/any", "name": "script"}, **options)
    with pytest.raises(BadPush):
        queue.push(named)
    with pytest.raises(BadPush):
        queue.push({"mount": "/any", "name": "x"}, success={"function": f"{module}:{name}"})
    assert queue.all() == []


class Odd:
    """No JSON."""


CIRCLE: list = []
CIRCLE.append(CIRCLE)
WRONG = [((), {}), ((1, 2, 3), {}), ((1,), {"a": 2}), ((1,), {"c": 2})]
WRONG += [((Odd(),), {}), ((math.nan,), {}), (({1: 2},), {}), ((b"x",), {}), (({1},), {})]
WRONG += [((CIRCLE,), {})]


@pytest.mark.parametrize(("arguments", "keywords"), WRONG, ids=range(10))
def test_arguments_that_do_not_fit_are_refused(queue, shop, arguments, keywords):
    with pytest.raises(BadPush, match=f"{SHOP}.add: "):
        queue.push(shop.add, *arguments, **keywords)
    assert queue.all() == []


def test_arguments_are_checked_by_their_hints(queue, shop):
    with pytest.raises(DataRefused, match='a: must be a whole number, not "one"'):
        queue.push(shop.add, "one")
    with pytest.raises(DataRefused, match="must be one of"):
        queue.push(shop.typed, "c")
    assert queue.all() == []


def test_an_unknown_queue_is_named(shop):
    with pytest.raises(QueueNotFound, match="nowhere"):
        queues.jobs.handles.QueueHandle("nowhere").push(shop.add, 1)
    assert not QueuedJob.objects.exists()


def test_many_are_pushed_by_their_arguments(queue, shop):
    ids = queue.push_many(shop.add, [[1], [1, 2], {"a": 3}, 4], max_failures=1)
    assert [queue.get(each).data["a"] for each in ids] == [1, 1, 3, 4]
    with pytest.raises(BadPush, match="number 2 of 2"):
        queue.push_many(shop.add, [[1], []])
    assert len(queue.all()) == 4


def test_the_first_push_shows_the_module_as_a_service(queue, shop):
    assert not Service.objects.filter(mount=SHOP).exists()
    queue.push(shop.add, 1)
    names = Service.objects.get(mount=SHOP).scripts.values_list("name", flat=True)
    assert {"add", "fail", "later", "plain"} <= set(names)
    assert "_hidden" not in names
