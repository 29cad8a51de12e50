from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pools.logic.state_spans import Stretch, share_of, stretches

NOW = datetime(2030, 1, 2, tzinfo=UTC)
DAY = timedelta(days=1)
minutes = st.integers(0, 1440).map(lambda ago: NOW - timedelta(minutes=ago))
words = st.sampled_from(["present", "gone"])


def test_a_backend_that_left_and_came_back():
    hours = timedelta(hours=6)
    changes = [(NOW - 2 * hours, "gone"), (NOW - hours, "present")]
    assert stretches(changes, "present", NOW - 9 * DAY, NOW, DAY) == [
        Stretch("present", 0.0, 0.5),
        Stretch("gone", 0.5, 0.25),
        Stretch("present", 0.75, 0.25),
    ]


def test_before_it_was_born_there_is_nothing():
    assert stretches([], "present", NOW - DAY / 4, NOW, DAY) == [Stretch("present", 0.75, 0.25)]


@given(st.lists(st.tuples(minutes, words)), words, minutes)
def test_stretches_follow_each_other_and_end_now(changes, state, born_at):
    ordered = [(at, word) for at, word in sorted(changes) if at >= born_at]
    found = stretches(ordered, state, born_at, NOW, DAY)
    ends = [stretch.begin + stretch.share for stretch in found]
    assert [stretch.begin for stretch in found[1:]] == pytest.approx(ends[:-1])
    assert ends[-1:] == pytest.approx([1.0] if found else [])
    whole = sum(share_of(found, word) for word in ("present", "gone"))
    assert whole == pytest.approx(1.0 - found[0].begin if found else 0.0)
