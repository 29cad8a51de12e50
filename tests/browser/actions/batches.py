"""Actions on batches."""

from functools import partial
from itertools import count

from django.db.models.functions import Now

from queues.models import Batch, Queue, QueuedJob
from tests.browser.actions.screen_action import ScreenAction, follow, press, typed
from tests.factories.jobs import make_job

PAGE = "/batches/{id}/"
_numbers = count(1)


def batch(status, state="running", **fields):
    """Make a batch with one job."""
    queue = Queue.objects.get(name="default")
    closed = {"closed_at": Now()} if state == "running" else {}
    made = Batch.objects.create(id=next(_numbers), queue=queue, name="many", state=state, **closed)
    make_job(queue, status, batch_id=made.pk, **fields)
    return {"id": str(made.pk)}


def has(**columns):
    return lambda words: Batch.objects.filter(pk=words["id"], **columns).exists()


def starts_over(words):
    return QueuedJob.objects.filter(batch_id=words["id"], status="pending").exists()


ACTIONS = [
    ScreenAction(
        "batch-close",
        given=partial(batch, "pending", "open", due_at="2099-01-01T00:00:00Z"),
        at=PAGE,
        steps=(press("Close"),),
        seen="is closed.",
        changed=has(state="running"),
    ),
    ScreenAction(
        "batch-retry",
        given=partial(batch, "failed", error="ValueError: wrong"),
        at=PAGE,
        steps=(follow("Retry failed jobs"), press("Retry")),
        seen="start over.",
        changed=starts_over,
    ),
    ScreenAction(
        "batch-abort",
        given=partial(batch, "pending", due_at="2099-01-01T00:00:00Z"),
        at=PAGE,
        steps=(follow("Abort the rest"), typed("reason", "enough"), press("Abort the rest")),
        seen="are aborted.",
        changed=has(state="failed"),
    ),
]
