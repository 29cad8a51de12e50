"""What some moves make of each instance."""

from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.drain import Move
from allocation.logic.forecast import Load, forecast, turnovers

NAMES = st.sampled_from("abcde")
MOVES = st.lists(st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] != pair[1]), max_size=30).map(
    lambda pairs: [Move(f"job{n}", *pair) for n, pair in enumerate(pairs)]
)
JOBS = dict.fromkeys("abcde", 30)


@given(MOVES)
def test_what_leaves_one_comes_to_another(moves):
    found = turnovers(JOBS, moves)
    assert sum(each.come for each in found) == sum(each.leave for each in found) == len(moves)
    assert sum(each.after - each.before for each in found) == 0
    assert {each.instance_id for each in found} == {
        name for move in moves for name in (move.source, move.target)
    }


@given(MOVES)
def test_the_spread_counts_every_job_once(moves):
    found = forecast([Load(name, jobs) for name, jobs in JOBS.items()], moves)
    assert (found.before.jobs, found.after.jobs, found.moved) == (150, 150, len(moves))
    assert found.after.least <= 30 <= found.after.most


def test_those_that_take_no_jobs_are_not_part_of_the_spread():
    found = forecast([Load("a", 0), Load("b", 4)], [Move("job", "gone", "a")])
    assert (found.before.least, found.after.least, found.after.jobs) == (0, 1, 5)
