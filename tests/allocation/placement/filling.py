"""Many instances and allocations, made by the database itself."""

from django.db import connection

from allocation.instances import roster
from allocation.models import Allocation, Instance, InstanceLoad
from allocation.storage.locks import roster_lock
from tests.factories.statistics import analyse


def fill(instances, jobs):
    """By the database itself; job n is on instance n modulo their number."""
    with roster_lock():
        rows = [Instance(pk=f"instance{n}", available=True, epoch=1) for n in range(instances)]
        Instance.objects.bulk_create(rows, batch_size=500)
        per_instance = [jobs // instances + (n < jobs % instances) for n in range(instances)]
        loads = zip(rows, per_instance, strict=True)
        InstanceLoad.objects.bulk_create(
            [InstanceLoad(instance=row, part=0, jobs=count) for row, count in loads],
            batch_size=500,
        )
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute(
                "WITH RECURSIVE g(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM g WHERE n + 1 < %s) "
                "INSERT INTO allocation_allocation (job_id, instance_id, epoch, allocated_at, "
                "strategy, candidates, actor, channel) SELECT 'job' || n, 'instance' || (n %% %s), "
                "n + 2, CURRENT_TIMESTAMP, 'md5-modulo', %s, 'test', 'process' FROM g",
                [jobs, instances, instances],
            )
        analyse(Instance, InstanceLoad, Allocation)
        roster.next_epoch("default")
        roster.announce("default")
