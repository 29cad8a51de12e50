"""A rebalance: previewed, applied at a pace, watched and stopped, through every door."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.management import call_command

from allocation.atributo import Atributo
from allocation.errors import NotRebalancing, Rebalancing
from allocation.invariants import INVARIANTS
from allocation.logic.drain import Move, replan
from allocation.models import Allocation, PastAllocation
from allocation.placement import plans, rebalance
from allocation.placement.moves import move_jobs
from allocation.repairs import move_rebalance_on
from atributo_site.core.leases import HeldLease
from atributo_site.core.models import Event
from atributo_site.core.models.clock import database_now
from tests.allocation.placement.concurrency import is_waiting, threads

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
def sweep(db):
    lease = HeldLease.take("curator", "test", 3600)
    return lambda seconds=0: move_rebalance_on(database_now() + timedelta(seconds=seconds), lease)


@pytest.fixture
def sweep_after(db):
    """So many seconds after it began: however long the test takes to come here."""
    lease = HeldLease.take("curator", "test", 3600)

    def look(seconds):
        return move_rebalance_on(rebalance.last().started_at + timedelta(seconds=seconds), lease)

    return look


def test_the_preview_of_a_rebalance_is_what_happens(ao, sweep):
    planned = {(m.job_id, m.source, m.target) for m in plans.plan_rebalance().moves}
    rebalance.start(moves_per_minute=60)
    assert sweep(60) == len(planned) > 0
    past = PastAllocation.objects.values_list("job_id", "instance_id")
    assert {(job, was, ao.instance(job)) for job, was in past} == planned
    assert plans.plan_rebalance().moves == []
    assert [find() for _, _, find in INVARIANTS if find()] == []


def test_jobs_move_at_the_pace_until_every_one_was_looked_at(ao, sweep_after):
    would = len(plans.plan_rebalance().moves)
    rebalance.start(moves_per_minute=6)
    assert [sweep_after(seconds) for seconds in (0, 10, 10, 31)] == [0, 1, 0, 2]
    assert (rebalance.last().moved, rebalance.last().is_running) == (3, True)
    assert sweep_after(3600) == would - 3
    assert (rebalance.last().is_running, rebalance.last().progress.fraction) == (False, 1.0)
    assert Event.objects.get(kind="allocations.rebalanced").facts["moved"] == would


def test_jobs_that_came_since_the_start_move_at_the_same_pace(ao, sweep):
    rebalance.start(moves_per_minute=600)
    move_jobs([Move(f"job{n:02}", "old", "new1") for n in range(12)], "test")
    ao.unavailable("new1")
    ao.allocate_many(f"late{n:02}" for n in range(40))
    ao.available("new1")
    would = len(plans.plan_rebalance().moves)
    assert sweep(60) == would > 12


def test_a_stopped_rebalance_moves_nothing_more(ao, sweep):
    rebalance.start(moves_per_minute=6)
    sweep(10)
    assert rebalance.stop().stopped
    assert sweep(3600) == 0
    with pytest.raises(NotRebalancing):
        rebalance.stop()


@pytest.mark.django_db(transaction=True)
def test_what_moves_while_it_is_stopped_is_counted(ao, sweep, monkeypatch, wait_until):
    def stopped_meanwhile(*arguments):
        stopping.append(pool.submit(threads, 1, lambda _: rebalance.stop()))
        wait_until(lambda: is_waiting() or stopping[0].done())
        return move_jobs(*arguments)

    stopping = []
    rebalance.start(moves_per_minute=60)
    monkeypatch.setattr(rebalance, "move_jobs", stopped_meanwhile)
    with ThreadPoolExecutor(1) as pool:
        moved = sweep(5)
    (stopped,) = stopping[0].result()
    assert stopped.moved == moved == PastAllocation.objects.count() > 0


def test_a_rebalance_that_is_stopped_while_it_is_planned_moves_nothing(ao, sweep, monkeypatch):
    def planned_meanwhile(*arguments):
        rebalance.stop()
        return replan(*arguments)

    rebalance.start(moves_per_minute=60)
    monkeypatch.setattr(rebalance, "replan", planned_meanwhile)
    assert (sweep(60), PastAllocation.objects.count(), rebalance.last().stopped) == (0, 0, True)


def test_only_one_runs_at_a_time(ao):
    rebalance.start(moves_per_minute=6)
    with pytest.raises(Rebalancing):
        rebalance.start(moves_per_minute=600)
    assert rebalance.last().moves_per_minute == 6


def test_the_fewest_jobs_become_level_and_not_swapped(ao, sweep, settings):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, strategy="least-loaded")
    rebalance.start(moves_per_minute=600)
    assert sweep(60) == 8
    assert [Allocation.objects.on(key).count() for key in ("old", "new1", "new2")] == [4, 4, 4]


def test_rest_starts_shows_and_stops_it(rest_as, ao, sweep):
    plan, operator = "/api/v1/allocations/plan", rest_as("operator")
    begun = operator.post(
        plan, {"rebalance": True, "moves_per_minute": 6}, content_type="application/json"
    ).json()
    assert begun["progress"]["running"] and begun["progress"]["jobs"] == 12
    sweep(10)
    shown = operator.post(plan, {"rebalance": True}, content_type="application/json").json()
    assert (shown["progress"]["moved"], shown["count"] > 0) == (1, True)
    ended = operator.post(plan, {"rebalance": False}, content_type="application/json").json()
    assert (ended["progress"]["running"], ended["progress"]["stopped"]) == (False, True)


@pytest.mark.parametrize("body", [{"rebalance": True, "moves_per_minute": 6}, {"rebalance": False}])
def test_who_may_only_look_starts_and_stops_nothing(rest_as, ao, body):
    answer = rest_as("viewer").post(
        "/api/v1/allocations/plan", body, content_type="application/json"
    )
    assert (answer.status_code, rebalance.last()) == (403, None)


def test_the_command_previews_starts_and_stops(ao, capsys):
    call_command("rebalance", "--json")
    assert json.loads(capsys.readouterr().out)["count"] > 0
    call_command("rebalance", "--pace", "6", "--json")
    assert json.loads(capsys.readouterr().out)["running"]
    call_command("rebalance", "--stop")
    assert "is stopped: 0 keys moved" in capsys.readouterr().out


def test_the_screen_shows_the_spread_and_what_arrives_and_leaves(client_as, ao):
    text = client_as("viewer").get("/allocations/-/rebalance/").text
    now, then = re.findall(r'<tr><th scope="row">(?:Now|After)</th>(.*)</tr>', text)
    assert re.findall(r">([\d.]+)<", now) == ["3", "0.0", "4.0", "12.0"]
    assert float(re.findall(r">([\d.]+)<", then)[-1]) < 12
    counts = plans.plan_rebalance().arrivals
    for name, count in counts.items():
        assert f'data-label="Gains" class="number">{count}</td>' in text and name in text
    assert f'data-label="Loses" class="number">{sum(counts.values())}</td>' in text


def test_the_screen_previews_starts_shows_and_stops(client_as, ao):
    client = client_as("operator")
    assert "What would move" in client.get("/allocations/-/rebalance/").content.decode()
    begun = client.post(
        "/allocations/-/rebalance/", {"moves_per_minute": "6", "sure": "yes"}, follow=True
    ).content.decode()
    assert "In progress" in begun and "of 12 checked" in begun
    ended = client.post("/allocations/-/rebalance/", {"stop": "1"}, follow=True).content.decode()
    assert "Stopped" in ended and "What would move" in ended
