"""What would become of the loads if instances came or went."""

from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.forecast import Load, added, removed

NUMBERS = st.lists(st.integers(0, 10_000), min_size=2, max_size=30)


def loads(jobs, capacity=None):
    return [Load(f"i{number}", each, 1.0, capacity) for number, each in enumerate(jobs)]


@given(NUMBERS)
def test_no_job_is_lost_when_one_leaves(jobs):
    found = removed(loads(jobs), {"i0"})
    assert found.moved == jobs[0]
    assert abs(found.after.jobs - sum(jobs)) <= 1
    assert found.after.instances == len(jobs) - 1


@given(NUMBERS, st.integers(0, 20))
def test_more_instances_never_load_anyone_more(jobs, count):
    found = added(loads(jobs), count)
    assert found.after.most <= max(jobs)
    assert found.after.mean <= found.before.mean + 1e-9
    assert 0 <= found.moved <= sum(jobs)


def test_what_finds_no_room_is_said():
    found = removed(loads([10, 8], capacity=10), {"i0"})
    assert (found.moved, found.nowhere) == (10, 8)
    assert found.after.most == 10


def test_jobs_go_where_the_load_is_least():
    found = removed(loads([6, 2, 4]), {"i0"})
    assert (found.after.least, found.after.most) == (6, 6)
