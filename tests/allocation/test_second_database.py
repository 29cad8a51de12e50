"""A program that names another database with `using` never touches the default one."""

import os
from datetime import timedelta

import pytest
from django.db import connections
from django.db.transaction import atomic

from allocation.atributo import Allocated, Atributo
from allocation.models import Allocation, Instance, PastAllocation
from allocation.placement import drains, plans, rebalance
from allocation.placement.explain import explain
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from tests.servers.postgres import database_template

OTHER = "other"


@pytest.fixture
def other(migrated_database, transactional_db, tmp_path, monkeypatch):
    """The alias of a second database of the same vendor; the default one cannot be reached."""
    connection = migrated_database.connection.copy(OTHER)
    connections[OTHER] = connection
    is_file = connection.vendor == "sqlite"
    name = str(tmp_path / "other.sqlite3") if is_file else f"atributo_other_{os.getpid()}"
    database_template.copy(connection, name)
    with monkeypatch.context() as patch:
        patch.setattr(connections["default"], "ensure_connection", refuse)
        yield OTHER
    connection.creation.destroy_test_db(verbosity=0)
    connection.close()
    del connections[OTHER]


def refuse():
    raise AssertionError("the default database was asked")


@pytest.fixture
def ao(other):
    """Six jobs on "old", and a newer instance without any."""
    made = Atributo(using=other)
    made.available("old")
    made.allocate_many(f"job{n}" for n in range(6))
    made.available("new")
    return made


def test_the_default_database_is_out_of_reach_here(other):
    with pytest.raises(AssertionError):
        Atributo().allocate("job")


def test_jobs_are_allocated_there_one_by_one_and_in_a_transaction(ao, other):
    with atomic(using=other):
        inside = ao.allocate("inside")
    outside = ao.allocate("outside")
    assert inside.persisted and outside.persisted
    assert ao.allocate("outside") == Allocated(outside.instance_id, False)
    assert Allocation.objects.using(other).count() == 8
    assert explain("outside", using=other)["placement"]["instance_id"] == outside.instance_id


def test_a_full_instance_there_gets_no_more_jobs(other):
    ao = Atributo(using=other)
    ao.available("small", capacity=1)
    ao.available("large")
    assert {ao.allocate(f"job{n}").instance_id for n in range(20)} == {"small", "large"}
    assert len(ao.jobs("small")) == 1


def test_jobs_are_deallocated_there(ao, other):
    assert ao.deallocate("job0")
    assert ao.deallocate_many(["job1", "job2"]) == 2
    assert PastAllocation.objects.using(other).count() == 3
    assert Allocation.objects.using(other).count() == 3


def test_an_instance_there_is_drained(ao, other):
    assert plans.plan_drain("old", using=other).moves
    drains.drain("old", deadline_seconds=0, using=other)
    assert drains.step("old", database_now(other), using=other) == 6
    assert len(ao.jobs("new")) == 6
    kinds = set(Event.objects.using(other).values_list("kind", flat=True))
    assert {"instance.draining", "instance.jobs_moved", "instance.drained"} <= kinds


def test_an_instance_there_is_removed_with_its_jobs(ao, other):
    ao.unavailable("old", destroyed=True)
    assert list(Instance.objects.using(other).values_list("pk", flat=True)) == ["new"]
    assert not ao.has_jobs("old")


def test_jobs_there_are_rebalanced(ao, other):
    planned = plans.plan_rebalance(using=other).moves
    rebalance.start(moves_per_minute=600, using=other)
    in_a_minute = database_now(other) + timedelta(minutes=1)
    with atomic(using=other):
        assert rebalance.step(in_a_minute, using=other) == len(planned) > 0
