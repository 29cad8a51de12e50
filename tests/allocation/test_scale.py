"""Ten thousand instances and a million allocations: the same few queries, each by an index."""

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
            if connection.vendor == "postgresql":
                cursor.execute("SET LOCAL statement_timeout = 0")
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
    """Statements of a page that read the whole table of allocations; a limit ends a scan early."""
    with CaptureQueriesContext(connection) as captured:
        client.get(path)
    statements = [query["sql"] for query in captured.captured_queries]
    return [sql for sql in statements if sql.startswith("SELECT") and reads_all(sql)]


def reads_all(sql):
    word = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
    with connection.cursor() as cursor:
        cursor.execute(word + sql.replace("%", "%%"), [])
        plan = "\n".join(str(row[-1]) for row in cursor.fetchall())
    scan = "SCAN allocation_allocation" in plan or "Seq Scan on allocation_alloc" in plan
    sorts = "Sort" in plan or "USE TEMP B-TREE" in plan
    return scan and (sorts or "LIMIT" not in sql)


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
