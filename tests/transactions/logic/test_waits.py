from hypothesis import given
from hypothesis import strategies as st

from allocation.transactions.engine.roll_back import LONGEST_SECONDS, retry_seconds
from allocation.transactions.logic.waits import blocked, cycle_of, is_victim, queued

edges = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=15)


def test_two_that_wait_for_each_other_are_a_circle():
    assert sorted(cycle_of(1, [(1, 2), (2, 1)])) == [1, 2]


def test_one_that_waits_for_a_circle_is_not_part_of_it():
    assert cycle_of(3, [(1, 2), (2, 1), (3, 1)]) == []


def test_only_a_lock_of_another_that_excludes_blocks():
    locks = [(1, 7, "shared"), (2, 7, "shared"), (3, 8, "exclusive")]
    waits = [(1, 7, "exclusive"), (4, 7, "shared"), (5, 8, "shared")]
    assert blocked(waits, locks) == [(1, 2), (5, 3)]


def test_the_later_waits_for_the_earlier_unless_it_holds_the_key():
    waits = [(1, 7, "exclusive"), (2, 7, "shared"), (3, 7, "shared"), (4, 7, "exclusive")]
    assert queued(waits, [(4, 7, "shared")]) == [(2, 1), (3, 1)]
    assert queued(waits[1:], []) == [(4, 2), (4, 3)]
    assert queued([(1, 7, "exclusive"), (2, 8, "exclusive")], []) == []


@given(edges, st.integers(1, 6))
def test_a_circle_is_a_closed_walk(pairs, start):
    circle = cycle_of(start, pairs)
    walk = list(reversed(circle))
    assert all(step in pairs for step in zip(walk, walk[1:] + walk[:1], strict=True))


@given(st.permutations([1, 2, 3, 4]))
def test_exactly_one_of_a_circle_gives_way(order):
    pairs = list(zip(order, order[1:] + order[:1], strict=True))
    assert [txn for txn in order if is_victim(txn, pairs)] == [4]


@given(st.integers(0, 10**6))
def test_the_wait_between_attempts_grows_up_to_a_limit(attempts):
    assert 1 <= retry_seconds(attempts) <= retry_seconds(attempts + 1) <= LONGEST_SECONDS
