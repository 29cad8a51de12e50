"""Two hosts share PostgreSQL and Valkey: one is cut off, its work moves, it comes back."""

import pytest

from atributo_site.core.models import Event, Lease
from atributo_site.curator.integrity import all_rules
from queues.models import QueuedJob, Run
from tests.cross_room.hosts import Host

pytestmark = [pytest.mark.only_on("postgresql"), pytest.mark.django_db(transaction=True)]
PATIENCE = 120  # the server ends a transaction that was cut in two after 30 seconds


@pytest.fixture
def host(tmp_path, migrated_database, tcp_proxy, spawn, service_roots):
    return lambda name: Host(name, tmp_path, migrated_database.url, tcp_proxy, spawn)


def lives(role):
    return Lease.objects.held().filter(role=role).exists


def active_curator():
    return Lease.objects.held().filter(role="curator").values_list("facts__name", flat=True).first()


@pytest.fixture
def two_hosts(host, probe, wait_until):
    """Start the active curator and the first worker on north, and south a moment later."""
    north, south = host("north"), host("south")
    for each in (north, south):
        each.run("worker"), each.run("run_curator")
        wait_until(lives(f"worker/{each.name}"), PATIENCE)
        wait_until(lives(f"curator/{each.name}"), PATIENCE)
        wait_until(lambda: active_curator() == "north", PATIENCE)
    return north, south


def test_a_host_that_is_cut_off_loses_its_work_and_comes_back(
    two_hosts, queue, probe, tmp_path, wait_until
):
    north, south = two_hosts
    files = {"started": str(tmp_path / "started"), "go": str(tmp_path / "go")}
    south.cut()  # so that north takes the first job
    job = queue.get(queue.push({"mount": probe, "name": "wait"}, files))
    wait_until((tmp_path / "started").exists, PATIENCE)
    (tmp_path / "started").unlink()
    south.mend()
    wait_until(lives("worker/south"), PATIENCE)
    wait_until(lambda: Run.objects.filter(worker="north", outcome="running").exists(), PATIENCE)

    north.cut()
    wait_until((tmp_path / "started").exists, PATIENCE)  # its work has moved
    wait_until(lambda: active_curator() == "south", PATIENCE)
    (tmp_path / "go").touch()  # both copies of the script come to their end
    wait_until(lambda: job.status == "complete", PATIENCE)
    runs = list(Run.objects.order_by("attempt").values_list("worker", "outcome"))
    assert runs == [("north", "lost"), ("south", "complete")]

    north.mend()
    wait_until(lives("worker/north"), PATIENCE)
    wait_until(lives("curator/north"), PATIENCE)
    assert list(Run.objects.order_by("attempt").values_list("worker", "outcome")) == runs
    assert active_curator() == "south"
    south.cut()
    again = queue.get(queue.push({"mount": probe, "name": "act"}, [1]))
    wait_until(lambda: again.status == "complete", PATIENCE)
    assert QueuedJob.objects.get(pk=again.id).attempts.last().worker == "north"
    assert Event.objects.filter(kind="curator.active").count() >= 2
    assert [row for rule in all_rules() for row in rule.broken()] == []
