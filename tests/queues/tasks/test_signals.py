"""Whoever listens hears of a task: when it is enqueued, when it starts, when it has ended."""

from contextlib import contextmanager

import pytest

from queues.jobs import actions
from queues.tasks import AtributoBackend
from queues.tasks.library import part
from queues.testing import run_due

NAMES = ("task_enqueued", "task_started", "task_finished")


@contextmanager
def listening(*names):
    """Collect what the signals say, each as it was at that moment."""
    heard, listeners = [], {}
    for name in names or NAMES:

        def hear(sender, task_result, name=name, **_):
            assert sender is AtributoBackend
            errors = [each.exception_class for each in task_result.errors]
            heard.append((name, str(task_result.status), task_result.attempts, errors))

        listeners[name] = hear
        getattr(part("signals"), name).connect(hear)
    try:
        yield heard
    finally:
        for name, hear in listeners.items():
            getattr(part("signals"), name).disconnect(hear)


def test_a_task_is_heard_of_from_its_enqueueing_to_its_end(shop):
    with listening() as heard:
        shop.meaning.enqueue()
        shop.ameaning.enqueue()
        run_due()
    assert sorted(heard) == sorted(
        2
        * [
            ("task_enqueued", "READY", 0, []),
            ("task_started", "RUNNING", 1, []),
            ("task_finished", "SUCCESSFUL", 1, []),
        ]
    )


def test_a_task_has_finished_when_no_attempt_is_left(shop):
    with listening("task_started", "task_finished") as heard:
        shop.ours.using(max_failures=1).enqueue("gone")
        run_due()
    assert heard == [
        ("task_started", "RUNNING", 1, []),
        ("task_started", "RUNNING", 2, [shop.OutOfStock]),
        ("task_finished", "FAILED", 2, [shop.OutOfStock, shop.OutOfStock]),
    ]


def test_a_result_that_cannot_be_stored_is_a_failed_end(shop):
    with listening("task_finished") as heard:
        shop.returns_no_json.enqueue()
        run_due()
    assert heard == [("task_finished", "FAILED", 1, [TypeError])]


def test_a_listener_that_fails_harms_nobody(shop, caplog):
    def stumble(**_):
        raise RuntimeError("no")

    for name in NAMES[1:]:
        getattr(part("signals"), name).connect(stumble)
    try:
        result = shop.meaning.enqueue()
        run_due()
    finally:
        for name in NAMES[1:]:
            getattr(part("signals"), name).disconnect(stumble)
    result.refresh()
    assert result.return_value == 42
    assert sum("stumble" in each.getMessage() for each in caplog.records) == 2


def test_where_no_backend_is_ours_nothing_is_sent(shop, settings):
    shop.meaning.enqueue()
    settings.TASKS = {"default": {"BACKEND": f"{part('backends.dummy').__name__}.DummyBackend"}}
    with listening() as heard:
        assert [each.outcome for each in run_due()] == ["complete"]
    assert heard == []


def test_the_context_is_one_of_the_api_too(shop):
    result = shop.kind_of_context.enqueue()
    run_due()
    result.refresh()
    assert result.return_value == [True, 1, True]


def test_a_result_read_again_equals_the_one_of_its_enqueueing(shop):
    for task in (shop.noop, shop.with_options.using()):
        result = task.enqueue("x")
        assert task.get_result(result.id) == result


@pytest.mark.parametrize("way", ["run", "abort"])
def test_enqueueing_the_same_unique_key_gives_the_same_result(shop, way):
    first = shop.meaning.using(unique_key="once").enqueue()
    second = shop.meaning.using(unique_key="once").enqueue()
    assert (first.id, first.enqueued_at) == (second.id, second.enqueued_at)
    run_due() if way == "run" else actions.abort(int(first.id))
    assert shop.meaning.using(unique_key="once").enqueue().id != first.id
