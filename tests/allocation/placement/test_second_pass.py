"""A rebalance by rendezvous is done after one pass: a second one finds nothing to move."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocation.atributo import Atributo
from allocation.logic.choose import Candidate
from allocation.logic.drain import replan
from allocation.models import PastAllocation
from allocation.placement import plans, rebalance
from allocation.placement.candidates import Candidates, Loads
from allocation.placement.chooser import Chooser
from allocation.placement.destinations import Destinations
from atributo_site.core.models.clock import database_now

NAMES = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)
WEIGHTS = NAMES.flatmap(
    lambda names: st.fixed_dictionaries({name: st.integers(1, 9) for name in names})
)
PLACES = st.lists(st.sampled_from("abcdefghxy"), max_size=120)


def one_pass(weights, placed):
    """Return where the jobs are afterwards, and how many have moved."""
    listed = Candidates(1, tuple(Candidate(key, weights[key]) for key in sorted(weights)))
    share = len(placed) / sum(weights.values())
    chooser = Chooser("default", "rendezvous", jobs=Loads({}, 0, 0.0), share=share)
    chooses = Destinations(chooser, listed, {}, from_start=True)
    moves, looked_at = replan(sorted(placed.items()), chooses.choose_again, len(placed) + 1)
    assert looked_at == len(placed)
    return placed | {move.job_id: move.target for move in moves}, len(moves)


@given(WEIGHTS, PLACES)
def test_whatever_the_weights_a_second_pass_moves_nothing(weights, places):
    placed = {f"job{n:03}": place for n, place in enumerate(places)}
    after, _ = one_pass(weights, placed)
    assert set(after.values()) <= set(weights)
    assert one_pass(weights, after) == (after, 0)


@pytest.fixture
def crowded(db, settings):
    """Return one with 900 jobs on two instances, beside which six have come."""
    settings.ATRIBUTO = replace(settings.ATRIBUTO, strategy="rendezvous")
    made = Atributo()
    made.available("old1")
    made.available("old2")
    made.allocate_many(f"job{n:03}" for n in range(900))
    for number in range(6):
        made.available(f"new{number}", weight=1 + number % 2)
    return made


def rebalance_all(forget=False):
    rebalance.start(moves_per_minute=100_000)
    steps = 0
    while rebalance.last().is_running:
        rebalance.step(database_now() + timedelta(days=1))
        if forget:  # another curator takes over
            rebalance._decided.clear()
        steps += 1
    return rebalance.last().moved, steps


@pytest.mark.parametrize("takes_over", [False, True])
def test_no_job_moves_twice_though_the_pass_has_many_steps(crowded, takes_over):
    planned = len(plans.plan_rebalance().moves)
    moved, steps = rebalance_all(takes_over)
    assert (moved, steps > 2) == (planned, True)
    assert PastAllocation.objects.values("job_id").distinct().count() == moved
    assert plans.plan_rebalance().moves == []
    assert rebalance_all()[0] == 0
