"""A full database beside the rows of `full_site.fill`: as many of everything as is asked for."""

from django.db import connection

from allocation.events import record
from allocation.leases import HeldLease
from allocation.models import Allocation, Event, Instance, InstanceLoad, Roster
from allocation.models.clock import database_now
from allocation.transactions.models import Transaction
from queues.hours import sum_hours
from queues.models import MinuteCount, Queue, QueuedJob
from tests.site.copies import analyze, copies

NAME = "'many-' || n"
WEEK_MINUTES = 7 * 24 * 60
TIMES = {
    "sqlite": {
        "far": "'2099-01-01 00:00:00'",
        "minute": "datetime('now', 'start of day', '-' || n || ' minutes')",
    },
    "postgresql": {
        "far": "timestamptz '2099-01-01'",
        "minute": "date_trunc('day', now()) - n * interval '1 minute'",
    },
}


def instances_for(rows):
    return max(10, rows // 100)


def many(rows, queues=10):
    """So many jobs and allocations; a hundredth of them instances."""
    _allocations(rows)
    _jobs(rows)
    _the_rest(rows, queues)
    analyze()


def _allocations(rows):
    count = instances_for(rows)
    copies(Instance.objects.get(pk="web-2"), count, id=NAME)
    InstanceLoad.objects.bulk_create(
        InstanceLoad(instance_id=f"many-{number}", jobs=rows // count) for number in range(count)
    )
    one = Allocation.objects.filter(instance_id="web-2").first()
    copies(one, rows, job_id=NAME, instance_id=f"'many-' || (n %% {count})")
    Roster.objects.update(instances=count + 2, available=count + 1)


def _jobs(rows):
    """Half of them complete, a fifth failed with a hundred errors, the rest wait or are delayed."""
    queue = Queue.objects.get(name="default").pk
    kinds = [
        ("complete", {}, 5),
        ("failed", {"fingerprint": "'error-' || (n %% 100)"}, 2),
        ("pending", {"unique_key": "NULL"}, 2),
        ("pending", {"unique_key": "NULL", "due_at": TIMES[connection.vendor]["far"]}, 1),
    ]
    for number, (status, columns, share) in enumerate(kinds):
        one = QueuedJob.objects.awake().filter(status=status).order_by("repeat_times").last()
        plain = {"id": f"{10**15} + n", "queue_id": str(queue), "repeat_times": "0"}
        copies(one, rows * share // 10, number * rows, **plain, **columns)


def _the_rest(rows, queues):
    event = record("many.happened", "instance:web-2")
    copies(Event.objects.get(pk=event.pk), rows // 4, subject="'instance:many-' || n")
    copies(Transaction.objects.filter(status="completed").first(), rows // 10)
    one = MinuteCount.objects.order_by("-minute").first()
    for number in range(queues):
        queue = Queue.objects.create(name=f"queue-{number}")
        minute = {"queue_id": str(queue.pk), "minute": TIMES[connection.vendor]["minute"]}
        copies(one, min(WEEK_MINUTES, rows), **minute)
    lease = HeldLease.take("many", "test", 600)
    while sum_hours(database_now(), lease):
        pass  # as the curator does
