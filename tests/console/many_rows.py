"""Fill the database with any number of rows of everything, beside those of `full_site.fill`.

Half of the jobs are on one instance and half of the events are about it; one queue has nearly
all queued jobs, and one of these has been attempted very often.
"""

from django.db import connection

from allocation.models import Allocation, Instance, InstanceLoad, PastAllocation, Roster
from allocation.transactions.models import Document, DocumentVersion, Transaction
from atributo_site.core.events import record
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from pools.models import Backend, BackendChange, Pool
from queues.models import (
    MinuteCount,
    Operation,
    OperationRefusal,
    Queue,
    QueuedJob,
    Run,
    RunLog,
)
from queues.queries.counters import sum_hours
from tests.config.copies import ago, analyze, copies

NAME = "'many-' || n"
FULLEST = "many-0"
FIRST_JOB = 10**15
WEEK_MINUTES = 7 * 24 * 60
MONTH_SECONDS = 30 * 86400
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
    """Make this many jobs, allocations and events, and a hundredth as many instances."""
    _allocations(rows)
    _jobs(rows)
    _attempts(rows)
    _events(rows)
    _documents(rows // 10)
    _pools(rows)
    _operations(rows // 100)
    _minutes(rows, queues)
    analyze()


def _allocations(rows):
    """Put even numbers on the fullest instance and odd ones on any other."""
    count = instances_for(rows)
    few = f"CASE WHEN n %% 2 = 0 THEN NULL ELSE {2 * rows // count} END"
    copies(Instance.objects.get(pk="web-2"), count, id=NAME, capacity=few)
    InstanceLoad.objects.bulk_create(
        InstanceLoad(instance_id=f"many-{number}", jobs=rows // count * (number % 2))
        for number in range(count)
    )
    InstanceLoad.objects.filter(instance_id=FULLEST).update(jobs=rows // 2)
    one = Allocation.objects.filter(instance_id="web-2").first()
    copies(one, rows, job_id=NAME, instance_id=_half(f"'{FULLEST}'", count))
    past = PastAllocation.objects.first()
    copies(past, rows // 4, job_id=NAME, ended_at=_older_first(rows // 4))
    Roster.objects.update(instances=count + 2, available=count + 1)


def _half(one, count, prefix="'"):
    return f"CASE WHEN n %% 2 = 0 THEN {one} ELSE {prefix}many-' || (n %% {count}) END"


def _older_first(count, first=0):
    """Spread the numbers over a month, the newest last."""
    return ago(f"({count} - (n - {first})) * {MONTH_SECONDS / count}")


def _jobs(rows):
    """Make half of them complete, a fifth failed with a hundred errors, the rest waiting."""
    queue = Queue.objects.get(name="default").pk
    failed = {"ended_at": _older_first(rows // 5, rows), "fingerprint": "'error-' || (n %% 100)"}
    kinds = [
        ("complete", {"ended_at": _older_first(rows // 2)}, 5),
        ("failed", failed, 2),
        ("pending", {"unique_key": "NULL"}, 2),
        ("pending", {"unique_key": "NULL", "due_at": TIMES[connection.vendor]["far"]}, 1),
    ]
    for number, (status, columns, share) in enumerate(kinds):
        one = QueuedJob.objects.awake().filter(status=status).order_by("repeat_times").last()
        plain = {"id": f"{FIRST_JOB} + n", "queue_id": str(queue), "repeat_times": "0"}
        copies(one, rows * share // 10, number * rows, **plain, **columns)


def _attempts(rows):
    """Make a run for each complete job, and one job with a tenth as many runs."""
    run = Run.objects.filter(outcome="failed").first()
    complete = {"job_id": f"{FIRST_JOB} + n", "outcome": "'complete'"}
    copies(run, rows // 2, **complete)
    copies(run, rows // 10, attempt="n + 2", number="n + 2")
    log = RunLog.objects.filter(job=run.job_id).first()
    copies(log, rows // 10, attempt="n + 2")


def _events(rows):
    event = Event.objects.get(pk=record("many.happened", "instance:web-2").pk)
    subject = _half(f"'instance:{FULLEST}'", instances_for(rows), prefix="'instance:")
    kind = "CASE WHEN n %% 10 = 0 THEN 'many.else' ELSE 'many.happened' END"
    copies(event, rows, subject=subject, kind=kind, actor="'many'", at=_older_first(rows))


def _documents(rows):
    ended = _older_first(rows)
    copies(Transaction.objects.filter(status="completed").first(), rows, finished_at=ended)
    one = Document.objects.filter(key="other").first()
    copies(one, rows, key=NAME, ref=NAME)
    version = DocumentVersion.objects.filter(document=one).first()
    copies(version, rows, ref=NAME)


def _pools(rows):
    pool = Pool.objects.first()
    copies(pool, max(2, rows // 10_000), name=NAME)
    backend = Backend.objects.first()
    address = {"key": NAME, "instance_id": NAME}
    copies(backend, instances_for(rows), **address)
    copies(BackendChange.objects.first(), rows // 10, at=_older_first(rows // 10))


def _operations(rows):
    done = {"state": "'complete'", "ended_at": ago("n")}
    copies(Operation.objects.first(), rows, **done)
    copies(OperationRefusal.objects.first(), rows)


def _minutes(rows, queues):
    one = MinuteCount.objects.order_by("-minute").first()
    for number in range(queues):
        queue = Queue.objects.create(name=f"queue-{number}")
        minute = {"queue_id": str(queue.pk), "minute": TIMES[connection.vendor]["minute"]}
        copies(one, min(WEEK_MINUTES, rows), **minute)
    lease = HeldLease.take("many", "test", 600)
    while sum_hours(database_now(), lease):
        pass  # as the curator does
