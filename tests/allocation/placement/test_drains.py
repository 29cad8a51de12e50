"""Draining: deadline, pace, progress, stop, force, previews and "may I remove it?"."""

from datetime import timedelta

import pytest

from allocation import repairs
from allocation.atributo import Atributo
from allocation.errors import InvalidSetting, NotDraining, UnknownInstance, UnknownJob
from allocation.instances import availability, holds
from allocation.logic.drain import Move, plan
from allocation.models import Allocation, Drain, Hold, Instance, PastAllocation
from allocation.placement import drains, plans
from allocation.placement.explain import explain
from allocation.placement.moves import move_jobs
from allocation.repairs import MoveDrainsOn, forget_expired_holds
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now, from_now

pytestmark = pytest.mark.django_db


@pytest.fixture
def ao(db):
    """Twelve jobs on "old"; "new1" and "new2" came later."""
    made = Atributo()
    made.available("old")
    made.allocate_many(f"job{n:02}" for n in range(12))
    made.available("new1")
    made.available("new2")
    return made


@pytest.fixture
def sweep_at(db):
    visit, lease = MoveDrainsOn(), HeldLease.take("curator", "test", 3600)
    return lambda moment: visit(moment, lease)


@pytest.fixture
def sweep(sweep_at):
    return lambda seconds=0: sweep_at(database_now() + timedelta(seconds=seconds))


@pytest.fixture
def sweep_after(sweep_at):
    """So many seconds after the pace began: however long the test takes to come here."""

    def look(seconds):
        row = Drain.objects.get()
        return sweep_at((row.paced_at or row.started_at) + timedelta(seconds=seconds))

    return look


def test_a_draining_instance_gets_no_new_jobs_and_keeps_the_old_ones(ao, sweep):
    drains.drain("old", reason="too hot")
    assert Instance.objects.get(pk="old").state == "draining"
    assert {ao.allocate(f"x{n}").instance_id for n in range(20)} == {"new1", "new2"}
    assert sweep(3600) == 0
    assert drains.progress("old").remaining == 12


def test_jobs_move_at_the_pace(ao, sweep_after):
    drains.drain("old", moves_per_minute=6)
    assert [sweep_after(seconds) for seconds in (0, 10, 10, 31)] == [0, 1, 0, 2]
    found = drains.progress("old")
    assert (found.moved, found.remaining, found.fraction) == (3, 9, 0.25)


def test_after_the_deadline_all_that_are_left_move(ao, sweep_after):
    drains.drain("old", deadline_seconds=60)
    assert (sweep_after(59), sweep_after(61)) == (0, 12)
    assert Instance.objects.get(pk="old").state == "drained"
    assert Event.objects.get(kind="instance.drained").facts["moved"] == 12


def test_force_is_a_deadline_now(ao, sweep):
    drains.drain("old", deadline_seconds=3600)
    drains.force("old")
    assert sweep() == 12


def test_a_stopped_drain_moves_nothing_more_and_leaves_the_instance_unavailable(
    ao, sweep, sweep_after
):
    drains.drain("old", moves_per_minute=60)
    sweep_after(5)
    drains.stop("old")
    assert sweep(3600) == 0
    assert Instance.objects.get(pk="old").state == "unavailable"
    assert Event.objects.get(kind="instance.drain_stopped").facts["moved"] == 5


def test_restoring_ends_the_drain(ao, sweep):
    drains.drain("old", deadline_seconds=0)
    availability.restore("old")
    assert (sweep(), Drain.objects.count()) == (0, 0)
    assert Instance.objects.get(pk="old").available


@pytest.mark.parametrize("take_back", [availability.restore, drains.stop])
def test_a_drain_that_is_taken_back_while_it_is_planned_moves_nothing(ao, monkeypatch, take_back):
    def planned_meanwhile(placed, choose):
        take_back("old")
        return plan(placed, choose)

    drains.drain("old", deadline_seconds=0)
    monkeypatch.setattr(drains, "plan", planned_meanwhile)
    assert drains.step("old", database_now()) == 0
    assert len(ao.jobs("old")) == 12
    assert not Event.objects.filter(kind="instance.drain_stuck").exists()


def test_a_drain_that_was_taken_back_since_it_was_listed_moves_nothing(ao):
    drains.drain("old", deadline_seconds=0)
    availability.restore("old")
    assert (drains.step("old", database_now()), len(ao.jobs("old"))) == (0, 12)


def test_a_drain_can_be_changed_while_it_runs(ao, sweep):
    drains.drain("old", moves_per_minute=1)
    drains.drain("old", deadline_seconds=0)
    assert sweep() == 12
    assert Drain.objects.get().jobs_at_start == 12


def test_a_new_pace_counts_from_now_and_catches_up_with_nothing(ao, sweep_after):
    drains.drain("old", reason="too hot")
    Drain.objects.update(started_at=from_now(-3600), moved=2)
    drains.drain("old", moves_per_minute=6)
    drains.drain("old", moves_per_minute=6)
    assert [sweep_after(seconds) for seconds in (0, 11, 11, 31)] == [0, 1, 0, 2]
    assert drains.progress("old").moved == 5


def test_another_deadline_keeps_reason_and_pace(ao, sweep_after):
    drains.drain("old", reason="too hot", moves_per_minute=6)
    drains.adjust("old", deadline_seconds=30)
    assert (sweep_after(29), sweep_after(31)) == (2, 10)
    found = Drain.objects.get()
    assert (found.reason, found.moves_per_minute, found.paced_at) == ("too hot", 6, None)
    assert Event.objects.filter(kind="instance.drain_adjusted").count() == 1


def test_another_pace_keeps_the_deadline_even_one_that_was_forced(ao, sweep):
    drains.drain("old", deadline_seconds=3600)
    drains.force("old")
    drains.adjust("old", moves_per_minute=1)
    assert (Drain.objects.get().moves_per_minute, sweep()) == (1, 12)


def test_only_a_drain_that_runs_is_adjusted(ao, sweep):
    with pytest.raises(NotDraining):
        drains.adjust("old", moves_per_minute=1)
    drains.drain("old", deadline_seconds=0)
    sweep()
    with pytest.raises(NotDraining):
        drains.adjust("old", deadline_seconds=None)
    with pytest.raises(InvalidSetting):
        drains.adjust("old", moves_per_minute=0)
    assert not Event.objects.filter(kind="instance.drain_adjusted").exists()


def test_jobs_that_have_nowhere_to_go_stay_and_it_is_said_once(ao, sweep):
    ao.unavailable("new1")
    ao.unavailable("new2")
    drains.drain("old", deadline_seconds=0)
    assert (sweep(), sweep()) == (0, 0)
    assert Drain.objects.get().stuck
    assert Event.objects.filter(kind="instance.drain_stuck").count() == 1
    assert drains.progress("old").remaining == 12


def test_many_that_wait_hold_up_no_other(ao, monkeypatch):
    monkeypatch.setattr(repairs, "BATCH", 2)
    for key in ("busy1", "busy2", "idle"):
        ao.available(key)
        drains.drain(key)
    holds.hold("busy1", "running job", "1")
    holds.hold("busy2", "running job", "2")
    lease, visit = HeldLease.take("curator", "test", 3600), repairs.MoveDrainsOn()
    states = [visit(database_now(), lease) or Instance.objects.get(pk="idle").state for _ in "123"]
    assert states == ["draining", "drained", "drained"]


def test_a_forced_drain_of_very_many_jobs_goes_on_without_a_pause(ao, monkeypatch):
    monkeypatch.setattr(drains, "MOST_MOVES", 5)
    drains.drain("old", deadline_seconds=0)
    lease, visit = HeldLease.take("curator", "test", 3600), repairs.MoveDrainsOn()
    repair = next(each for each in repairs.REPAIRS if each.name == "drains")
    assert [visit(database_now(), lease) for _ in "123"] == [5, 5, 2]
    assert repair.pause_after(repair.budget) == 0


def test_what_had_nowhere_to_go_is_not_caught_up_with(ao, sweep, sweep_after):
    ao.unavailable("new1")
    ao.unavailable("new2")
    drains.drain("old", moves_per_minute=6)
    Drain.objects.update(started_at=from_now(-3600))
    assert (sweep(), Drain.objects.get().stuck) == (0, True)
    ao.available("new1")
    assert [sweep_after(seconds) for seconds in (0, 11, 11, 31)] == [0, 1, 0, 2]


def test_nobody_moves_to_where_others_took_the_room(ao):
    availability.configure("new1", capacity=2)
    planned = [Move(f"job{n:02}", "old", "new1") for n in range(3)]
    moved = move_jobs(planned, "drain")
    assert (moved, ao.jobs("new1")) == (2, ["job00", "job01"])
    assert availability.load_of("old") == 10


def test_moves_respect_capacities(ao, sweep):
    availability.configure("new1", capacity=2)
    availability.configure("new2", capacity=3)
    drains.drain("old", deadline_seconds=0)
    assert sweep() == 5
    assert (len(ao.jobs("new1")), len(ao.jobs("new2"))) == (2, 3)


def test_counts_follow_the_moves(ao, sweep):
    drains.drain("old", deadline_seconds=0)
    sweep()
    loads = {key: availability.load_of(key) for key in ("old", "new1", "new2")}
    assert loads == {key: len(ao.jobs(key)) for key in loads}


def test_a_moved_job_has_a_higher_epoch_and_its_history(ao, sweep):
    before = Allocation.objects.get(pk="job00").epoch
    drains.drain("old", deadline_seconds=0)
    sweep()
    now_on = Allocation.objects.get(pk="job00")
    assert now_on.epoch > before and now_on.strategy == "drain"
    past = PastAllocation.objects.get(job_id="job00")
    assert (past.instance_id, past.end_reason) == ("old", f"drain to {now_on.instance_id}")


def test_an_empty_drain_is_done_at_once_unless_something_holds_it(ao, sweep):
    ao.deallocate_many(ao.jobs("old"))
    drains.drain("old")
    holds.hold("old", "running job", "17")
    sweep()
    assert Instance.objects.get(pk="old").state == "draining"
    holds.release("old", "running job", "17")
    sweep()
    assert Instance.objects.get(pk="old").state == "drained"


def test_automation_does_not_drain_what_a_person_made_available(ao):
    assert not drains.drain("old", source="dns")
    assert Instance.objects.get(pk="old").available


def test_automation_leaves_the_plan_of_a_person_alone(ao):
    drains.drain("old", reason="too hot", moves_per_minute=6, deadline_seconds=60)
    assert drains.drain("old", source="dns", reason="left DNS")
    found = Drain.objects.get()
    assert (found.reason, found.moves_per_minute) == ("too hot", 6)
    assert found.deadline_at is not None
    assert Instance.objects.get(pk="old").reason == "too hot"


def test_a_person_changes_the_plan_of_automation(ao):
    ao.available("dns1", source="dns")
    drains.drain("dns1", source="dns", reason="left DNS")
    drains.drain("dns1", reason="slowly", moves_per_minute=6)
    assert (Drain.objects.get().reason, Instance.objects.get(pk="dns1").source) == (
        "slowly",
        "manual",
    )


def test_only_a_draining_instance_can_be_stopped_or_forced(ao):
    for call in (drains.stop, drains.force, drains.progress):
        with pytest.raises(NotDraining, match="not draining"):
            call("old")
    with pytest.raises(UnknownInstance):
        drains.drain("nobody")


def test_the_preview_of_a_drain_is_what_happens(ao, sweep):
    preview = plans.plan_drain("old")
    drains.drain("old", deadline_seconds=0)
    sweep()
    assert (preview.jobs, preview.looked_at, preview.nowhere) == (12, 12, 0)
    assert preview.arrivals == {key: len(ao.jobs(key)) for key in preview.arrivals}
    assert all(ao.instance(move.job_id) == move.target for move in preview.moves)


def test_the_preview_of_a_rebalance_lists_who_would_be_elsewhere(ao):
    preview = plans.plan_rebalance()
    assert (preview.jobs, preview.looked_at) == (12, 12)
    assert {move.source for move in preview.moves} == {"old"}
    assert sum(preview.arrivals.values()) == len(preview.moves) < 12
    assert Allocation.objects.filter(instance="old").count() == 12


def test_a_plan_for_jobs_stores_nothing(ao):
    planned = plans.plan_jobs(["job00", "unseen"])
    assert planned["job00"] == "old"
    assert (ao.instance("unseen"), ao.allocate("unseen").instance_id) == (None, planned["unseen"])


def test_may_i_remove_it(ao):
    assert not holds.may_remove("old").may
    ao.unavailable("old")
    holds.hold("old", "open claim", "7")
    said = holds.may_remove("old")
    assert said.sentence == "Not yet: 12 keys are allocated to it, 1 × open claim."
    holds.release("old", "open claim", "7")
    ao.deallocate_many(ao.jobs("old"))
    assert holds.may_remove("old").may


def test_a_hold_that_ran_out_holds_no_longer(ao):
    holds.hold("new1", "running job", "1", seconds=60)
    holds.hold("new1", "running job", "1", seconds=60)
    assert holds.holds_of("new1") == {"running job": 1}
    Hold.objects.update(until=from_now(-1))
    assert holds.holds_of("new1") == {}
    assert forget_expired_holds(database_now(), HeldLease.take("curator", "t", 3600)) == 1


def test_explain_says_where_since_when_and_why(ao):
    found = explain("job00")
    assert found["placement"]["instance_id"] == "old"
    assert found["why"]["sentence"].startswith("Chosen by md5-modulo from 1 instance")
    assert [score["instance_id"] for score in found["why"]["scores"]] == ["old"]
    assert len(found["today"]["scores"]) == 3
    assert found["history"] == []


def test_explain_says_from_where_a_drain_moved_the_job(ao, sweep):
    drains.drain("old", deadline_seconds=0)
    sweep()
    assert explain("job00")["why"]["sentence"] == "Moved here from old by its drain."
    PastAllocation.objects.all().delete()
    assert "from an instance that no longer exists" in explain("job00")["why"]["sentence"]


def test_explain_finds_the_list_of_then_behind_many_changes(ao):
    ao.allocate("later")
    assert ao.instance("later") == "new2"
    ao.unavailable("new1", destroyed=True)
    ao.unavailable("new2")
    ao.available("other")
    names = [score["instance_id"] for score in explain("later")["why"]["scores"]]
    assert names == ["new2", "new1", "old"]


def test_explain_knows_the_weights_of_then(ao):
    """Of one that is heavier now, and of one that left and came back heavier."""
    by_weight = Atributo(strategy="rendezvous")
    ao.deallocate_many(ao.jobs("old"))
    by_weight.allocate_many(f"job{n}" for n in range(30))
    first = {job: explain(job)["why"]["scores"] for job in by_weight.jobs("new1")}
    availability.configure("old", weight=900)
    ao.unavailable("new2", destroyed=True)
    ao.available("new2", weight=700)
    ao.available("new2", weight=800)
    assert {job: explain(job)["why"]["scores"] for job in first} == first


def test_explain_knows_a_job_that_has_left(ao):
    ao.deallocate("job00")
    found = explain("job00")
    assert found["placement"] is None
    assert [(h["instance_id"], h["end_reason"]) for h in found["history"]] == [
        ("old", "deallocated")
    ]
    with pytest.raises(UnknownJob):
        explain("never")
