"""The dashboard reports dead instances with jobs, and drains that do not progress."""

import pytest

from allocation.atributo import Atributo
from allocation.models import Drain, IdNumber, Instance
from allocation.placement import drains
from allocation.snapshot import late_drains
from atributo_site.core.models.clock import database_now, from_now
from atributo_site.status.snapshot import snapshot
from tests.factories.statistics import analyse
from tests.transactions.engine.plans import plan_of

pytestmark = pytest.mark.django_db
HOUR_MS = 3_600_000


def said():
    """Return the items about instances, without what every empty site lacks."""
    found = snapshot(database_now())["attention"]
    return [
        (item["level"], item["title"], item["screen"])
        for item in found
        if item["screen"].startswith("/instances/")
    ]


def with_jobs(name, count=2):
    ao = Atributo()
    ao.available(name)
    ao.allocate_many([f"job{number}" for number in range(count)])
    return ao


def test_a_dead_instance_with_jobs_needs_attention():
    with_jobs("a/b c")
    assert said() == []
    Instance.objects.update(available=False, is_dead=True)
    title = "Instance a/b c is dead with 2 keys on it"
    assert said() == [("error", title, "/instances/a%1Fb%20c/")]


def test_a_dead_instance_without_jobs_does_not():
    with_jobs("ada", 0)
    Instance.objects.update(available=False, is_dead=True)
    assert said() == []


def test_a_stuck_drain_needs_attention():
    with_jobs("ada")
    drains.drain("ada", moves_per_minute=60)
    assert said() == []
    Drain.objects.update(stuck=True)
    assert said() == [("warning", "The drain of ada is stuck with 2 keys left", "/instances/ada/")]


def test_an_overdue_drain_needs_attention_when_the_curator_had_its_time():
    with_jobs("ada", 1)
    drains.drain("ada", deadline_seconds=3600)
    Drain.objects.update(deadline_at=from_now(-30))
    assert said() == []
    Drain.objects.update(deadline_at=from_now(-90))
    title = "The drain of ada is overdue with 1 key left"
    assert said() == [("warning", title, "/instances/ada/")]


def test_a_drain_that_is_done_or_has_nothing_left_does_not():
    ao = with_jobs("ada")
    drains.drain("ada", deadline_seconds=3600)
    Drain.objects.update(stuck=True, deadline_at=from_now(-90))
    ao.deallocate_many(["job0", "job1"])
    assert said() == []


def test_no_more_than_a_few_are_named():
    Instance.objects.bulk_create(Instance(pk=f"i{n}", is_dead=True) for n in range(9))
    for row in Instance.objects.all():
        row.loads.create(part=0, jobs=1)
    assert len(said()) == 5


def test_the_drains_that_run_are_found_by_their_index():
    Instance.objects.bulk_create(Instance(pk=f"i{n}") for n in range(3000))
    done = database_now()
    Drain.objects.bulk_create(Drain(pk=f"i{n}", done_at=done) for n in range(3000))
    analyse(Drain)
    assert "drain_running" in plan_of(late_drains())


def test_the_page_leads_to_the_instance(client_as):
    with_jobs("ada")
    Instance.objects.update(available=False, is_dead=True)
    client = client_as("viewer")
    link = '<a href="/instances/ada/">Instance ada is dead with 2 keys on it</a>'
    assert link in client.get("/").text
    told = client.get("/api/v1/snapshot").json()
    assert told["allocation"]["troubled"] == [{"id": "ada", "trouble": "dead", "load": 2}]


@pytest.mark.parametrize(("hours", "titles"), [(0, []), (2, ["Job ids are 2h ahead of the clock"])])
def test_a_clock_that_went_back_far_needs_attention(hours, titles):
    now = database_now()
    mark = int(now.timestamp() * 1000) + hours * HOUR_MS
    IdNumber.objects.all().delete()  # what other tests left
    IdNumber.objects.create(pk=3, cluster_size=10, high_water_ms=mark)
    found = snapshot(now)["attention"]
    assert [item["title"] for item in found if item["title"].startswith("Job ids")] == titles
