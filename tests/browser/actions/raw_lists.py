"""Actions on the rows of raw lists, and the fields that can be changed there."""

from functools import partial

from allocation.models import Instance
from allocation.transactions.models import Lock, Transaction
from queues.models import Queue, QueuedJob
from tests.browser.actions.instances import available
from tests.browser.actions.jobs import failed
from tests.browser.actions.queues import has, made
from tests.browser.actions.screen_action import ScreenAction, Step, press, typed
from tests.browser.actions.transactions import WHY, reads, written


def tick_row(pk="{id}"):
    return Step("css", f'main input[type=checkbox][value="{pk}"]')


def queue(name):
    made(name)
    return {"name": name, "id": Queue.objects.get(name=name).pk}


def locked(key):
    words = written(key)
    return {**words, "txn": words["id"], "id": Lock.objects.get(transaction=words["id"]).pk}


def job():
    return failed(script="raw")


ACTIONS = [
    ScreenAction(
        "allocation_instance_changelist",
        given=partial(available, "raw-1"),
        at="/admin/allocation/instance/",
        steps=(tick_row(), press("Drain"), typed("moves_per_minute", "6"), press("Drain")),
        seen="Drain: done for 1 instance.",
        changed=lambda words: Instance.objects.get(pk=words["id"]).state == "draining",
    ),
    ScreenAction(
        "allocation_instance_change",
        given=partial(available, "raw-2"),
        at="/admin/allocation/instance/{id}/change/",
        steps=(typed("capacity", "9"), press("Save")),
        seen="was changed successfully.",
        changed=lambda words: Instance.objects.get(pk=words["id"]).capacity == 9,
    ),
    ScreenAction(
        "queues_queue_changelist",
        given=partial(queue, "raw-3"),
        at="/admin/queues/queue/",
        steps=(tick_row(), press("Pause")),
        seen="Pause: done for 1 queue.",
        changed=has(paused_at__isnull=False),
    ),
    ScreenAction(
        "queues_queue_change",
        given=partial(queue, "raw-4"),
        at="/admin/queues/queue/{id}/change/",
        steps=(typed("retention_days", "9"), press("Save")),
        seen="was changed successfully.",
        changed=has(retention_days=9),
    ),
    ScreenAction(
        "queues_queuedjob_changelist",
        given=job,
        at="/admin/queues/queuedjob/",
        steps=(tick_row(), press("Retry"), press("Retry")),
        seen="Retry: done for 1 queued job.",
        changed=lambda words: QueuedJob.objects.get(pk=words["id"]).status == "pending",
    ),
    ScreenAction(
        "allocation_transaction_changelist",
        given=partial(written, "raw-5", status="stuck"),
        at="/admin/allocation/transaction/",
        steps=(
            tick_row(),
            press("Retry the rollback"),
            WHY,
            press("Retry the rollback"),
        ),
        seen="Retry the rollback: done for 1 transaction.",
        changed=lambda words: Transaction.objects.get(pk=words["id"]).finished_at is not None,
    ),
    ScreenAction(
        "allocation_lock_changelist",
        given=partial(locked, "raw-6"),
        at="/admin/allocation/lock/",
        steps=(tick_row(), press("Release"), WHY, press("Release")),
        seen="Release: done for 1 lock.",
        changed=lambda words: reads(110)({**words, "id": words["txn"]}),
    ),
]
