"""Quick choices among many are those of the plain strategies, whatever the loads and weights."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocation.logic import selection
from allocation.logic.choose import Candidate, least_loaded, rendezvous
from allocation.logic.lanes import Lanes
from allocation.logic.selection import ByLeastLoad, ByRendezvous, Listed

CANDIDATES = st.lists(
    st.builds(
        Candidate, id=st.integers(0, 10**6).map(str), weight=st.sampled_from([1, 2, 3, 40, 10**6])
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda each: each.id,
)
JOBS = st.lists(st.integers(0, 10**9).map(str), min_size=1, max_size=30)
# What rendezvous chose for job0 to job5 when it scored every candidate.
SIX_OF_3 = ["i001", "i000", "i001", "i001", "i000", "i002"]
SIX_OF_1000 = ["i994", "i183", "i003", "i576", "i463", "i414"]
SIX_OF_1000_LOADED = ["i994", "i270", "i003", "i576", "i463", "i195"]


def listed(count, weights=(1,)):
    return [Candidate(f"i{n:03}", weights[n % len(weights)]) for n in range(count)]


@given(CANDIDATES, JOBS)
def test_lanes_find_who_scores_highest(candidates, job_ids):
    lanes = Lanes(candidates)
    for job_id in job_ids:
        assert lanes.best(job_id, lambda each: True) == rendezvous(job_id, candidates)


@given(CANDIDATES, st.data())
def test_lanes_pass_over_those_that_are_not_open(candidates, data):
    closed = data.draw(st.sets(st.sampled_from(candidates).map(lambda each: each.id)))
    is_open = [each for each in candidates if each.id not in closed]
    best = Lanes(candidates).best("job", lambda each: each.id not in closed)
    assert best == (rendezvous("job", is_open) if is_open else None)


@pytest.fixture(autouse=True, scope="module")
def every_number_is_many():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "FEW", 0)
        yield


@given(candidates=CANDIDATES, job_ids=JOBS, data=st.data(), share=st.sampled_from([0.0, 0.5, 3.0]))
def test_while_jobs_come_and_go_the_choice_is_that_of_the_strategy(
    candidates, job_ids, data, share
):
    loads = {each.id: data.draw(st.integers(0, 9)) for each in candidates}
    shut = data.draw(st.sets(st.sampled_from(candidates).map(lambda each: each.id)))
    shut -= {candidates[0].id}
    offered = [each for each in candidates if each.id not in shut]
    by_load, by_score = (
        ByLeastLoad(Listed(candidates), loads),
        ByRendezvous(Listed(candidates), loads, share),
    )
    for job_id in job_ids:
        fewest = by_load.choose(job_id, shut)
        assert fewest == least_loaded(job_id, offered, loads)
        chosen = by_score.choose(job_id, shut)
        assert chosen == rendezvous(job_id, offered, loads, share)
        for instance_id, jobs in [(chosen.id, 1), (fewest.id, 1), (candidates[0].id, -1)]:
            loads[instance_id] += jobs
            by_load.changed(instance_id, jobs)
            by_score.changed(instance_id, jobs)


@pytest.mark.parametrize("weights", [(1,), (1, 2, 3, 4, 5), (1, 1, 1, 1000), (10**6, 1)])
def test_among_a_thousand_the_choice_is_that_of_the_strategy(weights):
    candidates = listed(1000, weights)
    loads = {each.id: random.Random(each.id).randrange(4) for each in candidates}
    quick = ByRendezvous(Listed(candidates), loads)
    for number in range(20):
        job_id = f"job{number}"
        assert quick.choose(job_id, frozenset()) == rendezvous(job_id, candidates, loads)


@pytest.mark.parametrize(
    ("candidates", "loads", "wanted"),
    [
        (listed(3), {}, SIX_OF_3),
        (listed(1000, (1, 2, 3, 4, 5)), {}, SIX_OF_1000),
        (listed(1000), {f"i{n:03}": n % 3 for n in range(1000)}, SIX_OF_1000_LOADED),
    ],
)
def test_the_choices_are_those_of_ever(candidates, loads, wanted):
    quick = ByRendezvous(Listed(candidates), loads)
    assert [quick.choose(f"job{n}", frozenset()).id for n in range(6)] == wanted
    assert [rendezvous(f"job{n}", candidates, loads).id for n in range(6)] == wanted


def test_only_few_of_many_are_scored(monkeypatch):
    """What makes it quick: of ten thousand candidates hardly a hundred are scored."""
    from allocation.logic import lanes

    scored = []
    plain = lanes.pull
    monkeypatch.setattr(lanes, "pull", lambda *given: scored.append(1) or plain(*given))
    made = Lanes(listed(10_000, (1, 2, 3, 4, 5)))
    for number in range(10):
        made.best(f"job{number}", lambda each: True)
    assert len(scored) < 10 * 200
