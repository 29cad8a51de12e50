"""A job may ask for labels: its instance has them when it is placed and wherever it is moved."""

import json
from datetime import timedelta

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from allocation.atributo import Allocated, Atributo
from allocation.errors import InvalidSetting, NoInstanceAvailable
from allocation.instances import availability
from allocation.logic.drain import Move
from allocation.logic.labels import as_texts, encoded, has, read
from allocation.models import Allocation, PastAllocation
from allocation.placement import drains, operations, plans, rebalance
from allocation.placement.explain import explain
from allocation.placement.moves import move_jobs
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now

pytestmark = pytest.mark.django_db
JOBS = [f"job{n}" for n in range(12)]
LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"))


@pytest.fixture
def ao(db):
    """Return one with two instances in zone a, one of them with room for two, and one in b."""
    made = Atributo()
    made.available("a1", labels={"zone": "a", "disk": 1}, capacity=2)
    made.available("a2", labels={"zone": "a"})
    made.available("b1", labels={"zone": "b"})
    made.available("plain")
    return made


@given(LABELS, LABELS)
def test_an_instance_has_what_is_wanted_and_perhaps_more(labels, wanted):
    assert has(labels, wanted) == (wanted.items() <= labels.items())


@given(LABELS)
def test_labels_are_read_as_they_are_told(labels):
    assert read(f"{name}={value}" for name, value in labels.items()) == labels
    assert json.loads(encoded(labels) or "{}") == labels


@pytest.mark.parametrize("strategy", ["md5-modulo", "rendezvous", "least-loaded"])
def test_a_job_goes_to_an_instance_with_its_labels(ao, strategy):
    ao = Atributo(strategy=strategy)
    places = [ao.allocate(job, labels={"zone": "b"}) for job in JOBS]
    assert places == [Allocated("b1", True)] * len(JOBS)
    assert ao.allocate("job0", labels={"zone": "a"}) == Allocated("b1", False)  # it stays
    many = ao.allocate_many([f"many{n}" for n in range(6)], labels={"zone": "a"})
    assert {each.instance_id for each in many.values()} <= {"a1", "a2"}
    assert Allocation.objects.get(pk="many0").labels == {"zone": "a"}


def test_numbers_are_compared_as_texts(ao):
    assert ao.allocate("job", labels={"disk": "1"}).instance_id == "a1"
    assert as_texts({"disk": 1}) == {"disk": "1"}


def test_without_a_match_the_error_names_the_labels_and_nothing_is_stored(ao):
    for ask in (ao.allocate, lambda job, labels: ao.allocate_many([job], labels=labels)):
        with pytest.raises(NoInstanceAvailable, match="zone=c") as refused:
            ask("job", labels={"zone": "c"})
        assert refused.value.code == "no_instance_available"
    assert not Allocation.objects.exists()


def test_a_full_match_is_no_match(ao):
    ao.allocate_many(["job0", "job1"], labels={"disk": "1"})
    with pytest.raises(NoInstanceAvailable, match="has room and has the labels disk=1"):
        ao.allocate("job2", labels={"disk": "1"})
    assert ao.allocate("job3", labels={"zone": "a"}).instance_id == "a2"


@pytest.mark.parametrize("labels", ["zone=a", {"zone": None}, {"": "a"}, {"zone": "a" * 256}, []])
def test_labels_that_nobody_can_have_are_refused(ao, labels):
    with pytest.raises(InvalidSetting, match="labels must be"):
        ao.allocate("job", labels=labels)


def test_an_allocator_of_ones_own_sees_the_labels(ao):
    class Mine(Atributo):
        def _choose(self, request):
            seen.append((request.job_id, request.labels, request.instance_labels))
            return request.instance_ids[-1], True

    seen = []
    assert Mine().allocate("job", labels={"zone": "a"}).instance_id == "a2"
    offered = {"a1": {"zone": "a", "disk": "1"}, "a2": {"zone": "a"}}
    assert seen == [("job", {"zone": "a"}, offered)]


def test_an_allocator_by_ids_gets_only_those_with_the_labels(ao):
    class Mine(Atributo):
        def _allocate(self, job_id, instance_ids):
            return super()._allocate(job_id, instance_ids)

    assert Mine().allocate("job", labels={"zone": "b"}) == Allocated("b1", True)


def test_a_change_of_labels_is_seen_by_the_next_choice(ao):
    ao.allocate("job0", labels={"zone": "b"})
    availability.configure("b1", labels={"zone": "c"})
    availability.configure("plain", labels={"zone": "b"})
    assert ao.allocate("job1", labels={"zone": "b"}).instance_id == "plain"


def test_a_drain_moves_a_job_to_where_its_labels_are(ao):
    ao.allocate_many(JOBS, labels={"zone": "b"})
    ao.available("b2", labels={"zone": "b"})
    assert plans.plan_drain("b1").arrivals == {"b2": len(JOBS)}
    drains.drain("b1", deadline_seconds=0)
    drains.step("b1", database_now() + timedelta(seconds=1))
    assert set(ao.jobs("b2")) == set(JOBS)
    assert Allocation.objects.get(pk="job0").labels == {"zone": "b"}
    assert PastAllocation.objects.get(job_id="job0").labels == {"zone": "b"}


def test_a_job_whose_labels_nobody_else_has_stays_in_a_drain(ao):
    ao.allocate("job", labels={"zone": "b"})
    assert plans.plan_drain("b1").nowhere == 1
    drains.drain("b1", deadline_seconds=0)
    assert drains.step("b1", database_now() + timedelta(seconds=1)) == 0
    assert ao.instance("job") == "b1"


@pytest.mark.parametrize("strategy", ["md5-modulo", "rendezvous", "least-loaded"])
def test_a_rebalance_obeys_the_labels(ao, strategy):
    ao.allocate_many(JOBS, labels={"zone": "b"})
    ao.available("b2", labels={"zone": "b"})
    with override_settings(ATRIBUTO=_with(strategy)):
        rebalance.start(moves_per_minute=1000)
        moved = rebalance.step(database_now() + timedelta(seconds=60))
    assert moved == len(ao.jobs("b2")) > 0
    assert len(ao.jobs("b1")) + len(ao.jobs("b2")) == len(JOBS)


def test_a_target_that_has_lost_the_label_since_the_plan_gets_nothing(ao):
    ao.allocate("job", labels={"zone": "b"})
    ao.allocate("other")
    where = ao.instance("other")
    moves = [Move("job", "b1", "plain"), Move("other", where, "b1" if where != "b1" else "plain")]
    assert move_jobs(moves, "drain") == 1
    assert ao.instance("job") == "b1"


def test_what_was_asked_is_told(ao):
    operations.allocate("job", {"zone": "b"})
    told = explain("job")
    assert told["placement"]["labels"] == {"zone": "b"}
    assert told["why"]["sentence"].endswith("from 1 instance with the labels zone=b.")
    assert told["today"]["instance_id"] == "b1"
    assert Event.objects.get(kind="allocation.made").facts["labels"] == {"zone": "b"}


def _with(strategy):
    from dataclasses import replace

    from django.conf import settings

    return replace(settings.ATRIBUTO, strategy=strategy)
