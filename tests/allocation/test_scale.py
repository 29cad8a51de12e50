"""Ten thousand instances and a million allocations: the same few queries, each by an index."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from allocation import roster
from allocation.atributo import Atributo
from allocation.locks import availability_alone
from allocation.models import Instance, InstanceLoad

pytestmark = pytest.mark.django_db
PAGES = [
    "/instances/",
    "/instances/?prefix=instance5",
    "/allocations/",
    "/allocations/?prefix=job5",
]
PAGES += ["/instances/instance5/", "/allocations/job5/", "/admin/allocation/instance/"]
PAGES += ["/admin/allocation/allocation/"]


def fill(instances, jobs):
    """By the database itself; job n is on instance n modulo their number."""
    with availability_alone():
        rows = [Instance(pk=f"instance{n}", available=True, epoch=1) for n in range(instances)]
        Instance.objects.bulk_create(rows, batch_size=500)
        per_instance = [jobs // instances + (n < jobs % instances) for n in range(instances)]
        loads = zip(rows, per_instance, strict=True)
        InstanceLoad.objects.bulk_create(
            [InstanceLoad(instance=row, part=0, jobs=count) for row, count in loads],
            batch_size=500,
        )
        with connection.cursor() as cursor:
            cursor.execute(
                "WITH RECURSIVE g(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM g WHERE n + 1 < %s) "
                "INSERT INTO allocation_allocation (job_id, instance_id, epoch, allocated_at, "
                "strategy, candidates, actor, channel) SELECT 'job' || n, 'instance' || (n %% %s), "
                "n + 2, CURRENT_TIMESTAMP, 'md5-modulo', %s, 'test', 'process' FROM g",
                [jobs, instances, instances],
            )
            cursor.execute("ANALYZE")
        roster.next_epoch("default")
        roster.announce("default")


def queries(client, path):
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def scans(path, client):
    """Statements of a page whose plan reads the whole table of allocations."""
    with CaptureQueriesContext(connection) as captured:
        client.get(path)
    found = []
    for query in captured.captured_queries:
        if query["sql"].startswith("SELECT"):
            with connection.cursor() as cursor:
                word = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
                cursor.execute(word + query["sql"].replace("%", "%%"), [])
                plan = json.dumps(cursor.fetchall())
            if 'SCAN allocation_allocation"' in plan or "Seq Scan on allocation_alloc" in plan:
                found.append(query["sql"])
    return found


def test_pages_take_as_many_queries_with_many_rows_as_with_few(client_as):
    client = client_as("operator")
    fill(instances=6, jobs=60)
    few = [queries(client, path) for path in PAGES]
    Atributo().deallocate_many([f"job{n}" for n in range(60)])
    Instance.objects.all().delete()
    fill(instances=200, jobs=3000)
    assert [queries(client, path) for path in PAGES] == few


@pytest.mark.soak
def test_no_page_reads_a_million_allocations(client_as):
    client = client_as("operator")
    fill(instances=10_000, jobs=1_000_000)
    assert {path: found for path in PAGES if (found := scans(path, client))} == {}
