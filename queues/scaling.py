"""One job more or less at once: whoever else scales the queue at that moment counts, too."""

from django.db.models import F
from django.db.transaction import atomic

from allocation.after_commit import after_commit
from allocation.events import record
from queues import catalogue
from queues.models import Queue
from queues.models.queue import MOST_WORKERS


def scale_by(name: str, step: int, *, using: str = "default") -> int | None:
    """How many may run now; None when that would be none at all, or too many."""
    found = catalogue.row(name, using=using)
    room = Queue.objects.using(using).existing().filter(pk=found.pk)
    room = room.filter(max_workers__range=(1 - step, MOST_WORKERS - step))
    with atomic(using=using):
        if not room.update(max_workers=F("max_workers") + step):
            return None
        queue = Queue.objects.using(using).get(pk=found.pk)  # ours until we commit
        queue.add_slots()
        record("queue.changed", f"queue:{name}", using=using, max_workers=queue.max_workers)
        catalogue.wait_for_slots(queue)
    after_commit(lambda: catalogue.ring_due(queue, using), using=using)
    return queue.max_workers
