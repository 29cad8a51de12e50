"""Strategies: the vectors, and what holds for any job and any list."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.choose import (
    STRATEGIES,
    Candidate,
    least_loaded,
    md5_modulo,
    md5_number,
    rendezvous,
    scores,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        id=TEXT,
        weight=st.integers(1, 100).map(float),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda c: c.id,
)
LOADED = CANDIDATES.flatmap(
    lambda found: st.tuples(
        st.just(found), st.fixed_dictionaries({c.id: st.integers(0, 1000) for c in found})
    )
)


def named(*ids):
    return [Candidate(key) for key in ids]


@pytest.mark.parametrize(
    ("job_id", "number"),
    [("job0", 3092767893), ("job1", 262533178), ("jöb", 1554606359), ("😀", 704834243)],
)
def test_the_hash_is_the_first_four_bytes_of_md5_most_significant_first(job_id, number):
    assert md5_number(job_id) == number


@pytest.mark.parametrize(("count", "places"), [(2, (1, 0)), (3, (0, 1))])
def test_md5_modulo_counts_through_the_list(count, places):
    candidates = named(*(f"instance{n}" for n in range(count)))
    found = tuple(md5_modulo(job_id, candidates).id for job_id in ("job0", "job1"))
    assert found == tuple(f"instance{n}" for n in places)


@given(TEXT, LOADED, st.sampled_from(sorted(STRATEGIES)))
def test_a_strategy_chooses_one_of_the_list_and_always_the_same(job_id, loaded, strategy):
    candidates, loads = loaded
    chosen = STRATEGIES[strategy](job_id, candidates, loads)
    assert chosen in candidates
    assert STRATEGIES[strategy](job_id, list(candidates), dict(loads)) == chosen


@given(TEXT, LOADED, st.sampled_from(sorted(STRATEGIES)))
def test_the_scores_name_everybody_once_and_the_winner_first(job_id, loaded, strategy):
    candidates, loads = loaded
    found = scores(strategy, job_id, candidates, loads=loads)
    assert sorted(s.instance_id for s in found) == sorted(c.id for c in candidates)
    assert found[0].instance_id == STRATEGIES[strategy](job_id, candidates, loads).id


@given(TEXT, CANDIDATES, TEXT)
def test_rendezvous_moves_a_job_only_to_the_new_instance(job_id, candidates, added):
    old = [Candidate(c.id, c.weight) for c in candidates if c.id != added]
    before = rendezvous(job_id, old).id if old else added
    assert rendezvous(job_id, [*old, Candidate(added)]).id in {before, added}


@given(LOADED, TEXT)
def test_rendezvous_never_chooses_who_has_more_than_its_bound(loaded, job_id):
    candidates, loads = loaded
    chosen = rendezvous(job_id, candidates, loads)
    share = chosen.weight / sum(c.weight for c in candidates)
    assert loads[chosen.id] < 1.25 * (sum(loads.values()) + 1) * share


@given(LOADED, TEXT)
def test_rendezvous_takes_the_best_score_of_those_with_room(loaded, job_id):
    candidates, loads = loaded
    found = scores("rendezvous", job_id, candidates, loads=loads)
    with_room = [each for each in found if each.note.endswith("has room")]
    assert found[0].score == max(each.score for each in with_room)


@given(LOADED, TEXT)
def test_least_loaded_chooses_nobody_who_has_more_for_its_weight(loaded, job_id):
    candidates, loads = loaded
    chosen = least_loaded(job_id, candidates, loads)
    fewest = min(loads[c.id] / c.weight for c in candidates)
    assert loads[chosen.id] / chosen.weight == fewest


def moved_share(strategy):
    jobs = [f"job{n}" for n in range(4000)]
    eight, nine = named(*"abcdefgh"), named(*"abcdefghi")
    pairs = [(strategy(job, eight).id, strategy(job, nine).id) for job in jobs]
    return sum(old != new for old, new in pairs) / len(jobs)


def test_a_ninth_instance_moves_a_ninth_by_rendezvous_and_most_by_modulo():
    assert 0.09 < moved_share(rendezvous) < 0.13
    assert moved_share(md5_modulo) > 0.85


def test_rendezvous_follows_the_weights():
    candidates = [Candidate("light", 1.0), Candidate("heavy", 3.0)]
    found = Counter(rendezvous(f"job{n}", candidates).id for n in range(4000))
    assert 2.7 < found["heavy"] / found["light"] < 3.3


def test_no_candidates_have_no_scores():
    assert scores("rendezvous", "job", []) == []
