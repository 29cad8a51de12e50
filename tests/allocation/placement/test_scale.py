"""Ten thousand instances and a million allocations: the same few queries, each by an index."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from allocation.atributo import Atributo
from allocation.models import Instance
from allocation.storage import postgresql_sql, sqlite_sql
from tests.allocation.placement.filling import fill

pytestmark = pytest.mark.django_db
PAGES = [
    "/instances/",
    "/instances/?prefix=instance5",
    "/allocations/",
    "/allocations/?prefix=job5",
]
PAGES += ["/instances/instance5/", "/allocations/job5/", "/admin/allocation/instance/"]
PAGES += ["/admin/allocation/allocation/"]
FEW = 10_001  # as many as a list counts before it says "10,000+"


def queries(client, path):
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def scans(path, client):
    """Statements of a page that read the whole table of allocations."""
    with CaptureQueriesContext(connection) as captured:
        client.get(path)
    statements = [query["sql"] for query in captured.captured_queries]
    return [each for each in statements if each.startswith("SELECT") and reads_all(each)]


def reads_all(statement):
    if connection.vendor == "postgresql":
        return (
            rows_scanned(explained("EXPLAIN (ANALYZE, FORMAT JSON) ", statement)[0]["Plan"]) > FEW
        )
    plan = explained("EXPLAIN QUERY PLAN ", statement)
    walks = "SCAN allocation_allocation" in plan  # along an index a limit ends it early
    by_index = "SCAN allocation_allocation USING" in plan and "USE TEMP B-TREE" not in plan
    return walks and not (by_index and "LIMIT" in statement)


def explained(how, statement):
    with connection.cursor() as cursor:
        cursor.execute(how + statement.replace("%", "%%"), [])
        rows = cursor.fetchall()
    return rows[0][0] if "JSON" in how else "\n".join(str(row[-1]) for row in rows)


def rows_scanned(node):
    """Rows of allocations that this plan read without an index until a limit, if any, ended it."""
    below = sum(rows_scanned(each) for each in node.get("Plans", []))
    if node["Node Type"] != "Seq Scan" or node["Relation Name"] != "allocation_allocation":
        return below
    read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return below + read * node["Actual Loops"]


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
    assert [each for each in hot_statements() if reads_all(each)] == []


def hot_statements():
    """How an allocation is looked up, with facts in place of parameters."""
    if connection.vendor == "sqlite":
        return [
            sqlite_sql.FIND.replace(":job_id", "'job5'"),
            sqlite_sql.FIND_MANY.replace(":job_ids", "'[]'"),
        ]
    return [
        postgresql_sql.FIND.replace("%(job_id)s", "'job5'"),
        postgresql_sql.FIND_MANY.replace("%(job_ids)s", "'{job5}'"),
    ]
