"""Who may make an instance available, and what becomes of one that falls silent."""

import pytest

from allocation.atributo import Atributo
from allocation.errors import EpochChanged, InvalidSetting, NoInstances, UnknownInstance
from allocation.instances import availability
from allocation.invariants import over_capacity
from allocation.models import Instance, InstanceLoad, PastAllocation
from allocation.placement import drains
from allocation.repairs import bury_dead_instances, forget_past_allocations
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now, from_now

pytestmark = pytest.mark.django_db


@pytest.fixture
def ao():
    return Atributo()


@pytest.fixture
def lease(db):
    return HeldLease.take("curator", "test", 3600)


def kinds():
    return list(Event.objects.order_by("id").values_list("kind", flat=True))


def test_a_persons_unavailable_outranks_what_automation_says(ao):
    ao.available("a", source="dns")
    ao.unavailable("a")
    assert not ao.available("a", source="dns")
    assert not ao.available("a", source="worker", lease_seconds=5)
    assert ao.available("a")


def test_a_persons_available_outranks_what_automation_says(ao):
    ao.available("a", source="worker")
    ao.available("a")
    assert not ao.unavailable("a", source="dns")
    assert ao.instances() == [{"id": "a", "available": True}]


def test_automation_may_change_what_automation_did(ao):
    ao.available("a", source="dns")
    assert ao.unavailable("a", source="worker")
    assert ao.available("a", source="dns")


def test_restoring_gives_the_decision_back_to_where_the_instance_came_from(ao):
    ao.available("a", source="dns")
    ao.unavailable("a")
    availability.restore("a")
    assert ao.instances() == [{"id": "a", "available": True}]
    assert ao.unavailable("a", source="dns")


def test_nobody_restores_what_is_not_there(ao):
    with pytest.raises(UnknownInstance):
        availability.restore("a")


def test_saying_the_same_again_leaves_no_event_and_no_epoch(ao):
    ao.available("a")
    epoch = Instance.objects.get().epoch
    ao.available("a")
    assert (kinds(), Instance.objects.get().epoch) == (["instance.available"], epoch)


def test_every_change_has_an_event_with_its_reason(ao):
    ao.available("a", reason="new machine")
    ao.unavailable("a", reason="noisy fan")
    ao.unavailable("a", destroyed=True)
    assert kinds() == ["instance.available", "instance.unavailable", "instance.removed"]
    assert Event.objects.get(kind="instance.unavailable").facts["reason"] == "noisy fan"


def test_a_change_based_on_an_old_epoch_is_refused(ao):
    ao.available("a")
    seen = Instance.objects.get().epoch
    ao.unavailable("a", epoch=seen)
    for call in (availability.make_available, availability.make_unavailable, availability.remove):
        with pytest.raises(EpochChanged):
            call("a", epoch=seen)
    assert Instance.objects.count() == 1


def test_a_silent_instance_becomes_unavailable_and_revives_with_its_heartbeat(ao, lease):
    ao.available("a", source="worker", lease_seconds=600)
    assert bury_dead_instances(database_now(), lease) == 0
    Instance.objects.update(lease_until=from_now(-1))
    assert bury_dead_instances(database_now(), lease) == 1
    assert Instance.objects.get().state == "dead"
    assert not availability.heartbeat("a", 5)
    assert ao.available("a", source="worker", lease_seconds=5)
    assert availability.heartbeat("a", 5)
    assert kinds() == ["instance.available", "instance.dead", "instance.available"]


def test_a_persons_unavailable_outranks_the_heartbeat_of_one_that_had_died(ao, lease):
    ao.available("a")
    ao.available("a", source="worker", lease_seconds=5)
    Instance.objects.update(lease_until=from_now(-1))
    assert bury_dead_instances(database_now(), lease) == 1
    ao.unavailable("a", reason="stays off")
    assert not ao.available("a", source="worker", lease_seconds=5)
    assert Instance.objects.get().reason == "stays off"


def test_a_dead_one_that_automation_takes_away_may_come_back(ao, lease):
    ao.available("a")
    ao.available("a", source="worker", lease_seconds=5)
    Instance.objects.update(lease_until=from_now(-1))
    bury_dead_instances(database_now(), lease)
    assert ao.unavailable("a", source="dns")
    assert ao.available("a", source="worker", lease_seconds=5)


def test_an_instance_without_heartbeat_never_dies(ao, lease):
    ao.available("a")
    assert bury_dead_instances(database_now(), lease) == 0


def test_a_curator_that_lost_its_lease_buries_nobody(ao, lease):
    ao.available("a", source="worker", lease_seconds=5)
    Instance.objects.update(lease_until=from_now(-1))
    lease.release()
    with pytest.raises(Exception, match="is over"):
        bury_dead_instances(database_now(), lease)
    assert Instance.objects.get().available


def test_the_load_is_counted_through_every_change(ao):
    ao.available("a")
    ao.allocate_many(f"job{n}" for n in range(10))
    ao.allocate("one more")
    ao.deallocate_many(["job1", "job2", "nobody"])
    assert availability.load_of("a") == 9
    assert Instance.objects.with_load().get().load == 9


def test_removing_drops_the_jobs_and_remembers_them(ao):
    ao.available("a")
    ao.allocate_many(["x", "y"])
    assert availability.remove("a") == 2
    assert (Instance.objects.count(), InstanceLoad.objects.count()) == (0, 0)
    assert Event.objects.get(kind="instance.removed").facts["jobs_dropped"] == 2
    ended = PastAllocation.objects.order_by("job_id").values_list("job_id", "end_reason")
    assert list(ended) == [("x", "instance removed"), ("y", "instance removed")]


def test_an_instance_with_very_many_jobs_is_emptied_before_it_goes(ao, monkeypatch):
    monkeypatch.setattr(availability, "PIECE", 10)
    ao.available("a")
    ao.allocate_many(f"job{n}" for n in range(35))
    assert availability.remove("a") == 35
    assert PastAllocation.objects.count() == 35


def test_a_counter_that_says_too_much_does_not_keep_an_instance(ao, monkeypatch):
    monkeypatch.setattr(availability, "PIECE", 10)
    ao.available("a")
    ao.allocate_many(f"job{n}" for n in range(15))
    InstanceLoad.objects.filter(part=0).update(jobs=1000)
    assert (availability.remove("a"), Instance.objects.count()) == (15, 0)


def test_a_full_instance_gets_no_more_jobs(ao):
    ao.available("a", capacity=2)
    ao.available("b", capacity=1)
    placed = [ao.allocate(f"job{n}").instance_id for n in range(3)]
    assert sorted(placed) == ["a", "a", "b"]
    with pytest.raises(NoInstances):
        ao.allocate("job3")
    ao.deallocate("job0")
    assert ao.allocate("job3").persisted


def test_a_batch_respects_capacities(ao):
    ao.available("a", capacity=2)
    ao.allocate("job0")
    with pytest.raises(NoInstances):
        ao.allocate_many(["job0", "job1", "job2"])
    assert ao.jobs("a") == ["job0"]
    assert ao.allocate_many(["job0", "job1"]) == {"job0": ("a", False), "job1": ("a", True)}


def test_a_capacity_that_comes_later_counts_the_jobs_that_are_there(ao):
    ao.available("a")
    ao.allocate_many(["x", "y"])
    availability.configure("a", capacity=2)
    with pytest.raises(NoInstances):
        ao.allocate("z")
    availability.configure("a", capacity=None)
    assert ao.allocate("z").persisted


def test_a_capacity_of_nothing_means_no_jobs(ao):
    ao.available("a", capacity=0)
    with pytest.raises(NoInstances):
        ao.allocate("x")


def test_weight_and_labels_are_kept_and_a_same_setting_is_no_change(ao):
    ao.available("a", weight=3, labels={"zone": "north"})
    availability.configure("a", weight=3)
    assert kinds() == ["instance.available"]
    assert Instance.objects.with_label("zone", "north").get().weight == 3


@pytest.mark.parametrize("strategy", ["rendezvous", "least-loaded"])
def test_strategies_that_count_keep_the_loads_even(strategy):
    ao = Atributo(strategy=strategy)
    for key in "abcd":
        ao.available(key)
    for n in range(40):
        ao.allocate(f"job{n}")
    ao.allocate_many(f"more{n}" for n in range(40))
    assert all(15 <= len(ao.jobs(key)) <= 26 for key in "abcd")


def test_the_history_is_forgotten_with_the_events(ao, lease):
    ao.available("a")
    ao.allocate_many(["old", "new"])
    ao.deallocate_many(["old", "new"])
    PastAllocation.objects.filter(job_id="old").update(ended_at=from_now(-100 * 86400))
    assert forget_past_allocations(database_now(), lease) == 1
    assert PastAllocation.objects.get().job_id == "new"


@pytest.mark.parametrize(
    "wish",
    [
        {"weight": 0},
        {"lease_seconds": float("nan")},
        {"id": "b"},
        {"reason": "x" * 256},
        {"source": "me"},
    ],
)
def test_a_wrong_wish_is_refused_before_anything_changes(ao, wish):
    with pytest.raises(InvalidSetting, match=next(iter(wish))):
        ao.available("a", **wish)
    assert ao.instances() == [] and kinds() == []


@pytest.mark.parametrize("wish", [{"source": "dns"}, {"reason": "why"}, {"lease_seconds": 5}])
def test_only_settings_are_configured(ao, wish):
    ao.available("a")
    with pytest.raises(InvalidSetting, match="there are weight, capacity, labels"):
        availability.configure("a", **wish)
    assert Instance.objects.get().source == "manual"


def test_who_decides_must_be_known(ao):
    ao.available("a")
    for call in (ao.unavailable, drains.drain):
        with pytest.raises(InvalidSetting, match="source must be manual, dns or worker"):
            call("a", source="me")
    assert ao.instances() == [{"id": "a", "available": True}]


def test_restoring_and_removing_say_why(ao):
    ao.unavailable("a")
    availability.restore("a", reason="mended")
    ao.unavailable("a", destroyed=True, reason="sold")
    reasons = Event.objects.filter(kind__in=["instance.restored", "instance.removed"])
    assert [each.facts["reason"] for each in reasons.order_by("id")] == ["mended", "sold"]


def test_labels_are_found_by_any_name_and_as_text(ao):
    for name in ("zone", "contains", "isnull", "0", "a__b", "a.b", "ü", '"', "\\", "'"):
        ao.available(f"i-{name}", labels={name: "x", "port": 80})
        assert list(Instance.objects.with_label(name, "x")) == [Instance(pk=f"i-{name}")]
    assert Instance.objects.with_label("port", "80").count() == 10


def test_a_capacity_below_the_load_breaks_no_promise(ao):
    ao.available("a")
    ao.allocate_many(["job0", "job1", "job2"])
    availability.configure("a", capacity=1)
    assert over_capacity() == []
    with pytest.raises(NoInstances):
        ao.allocate("job3")
    assert over_capacity() == []
