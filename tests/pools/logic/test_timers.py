"""Named moments: the earliest first, each once, and nothing kept of what is cancelled."""

import math

from hypothesis import given
from hypothesis import strategies as st

from pools.logic.timers import Timers

STEPS = st.lists(st.tuples(st.integers(0, 5), st.one_of(st.none(), st.integers(0, 100))))


@given(STEPS)
def test_each_name_is_due_once_and_in_order(steps):
    timers, expected = Timers(), {}
    for name, at in steps:
        if at is None:
            timers.cancel(name)
            expected.pop(name, None)
        else:
            timers.set(name, at)
            expected[name] = at
    assert timers.next_at() == min(expected.values(), default=math.inf)
    due = list(iter(lambda: timers.pop_due(100), None))
    assert sorted(due) == sorted(expected)
    assert [expected[name] for name in due] == sorted(expected.values())


def test_what_is_cancelled_takes_no_room():
    timers = Timers()
    for name in range(10_000):
        timers.set(name, 60_000.0 + name)
        timers.cancel(name)
    assert len(timers._heap) < 200
