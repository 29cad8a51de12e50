"""Cursors that clients hand back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.core.event_cursor import EventCursor, is_of_the_past, parsed

numbers = st.integers(1, 10**17)


@st.composite
def snapshots(draw):
    start = draw(numbers)
    end = start + draw(st.integers(0, 10**6))
    inside = st.integers(start, max(start, end - 1))
    listed = sorted(draw(st.sets(inside, max_size=5))) if end > start else []
    return f"{start}:{end}:{','.join(map(str, listed))}"


@given(snapshots() | numbers.map(str), st.integers(0, 10**18))
def test_a_cursor_survives_the_way_to_the_client_and_back(seen, origin):
    assert parsed(str(EventCursor(seen, origin=origin))) == EventCursor(seen, origin=origin)


@given(st.text(max_size=30))
def test_any_text_is_a_cursor_or_none(text):
    found = parsed(text)
    assert found is None or str(found) == text


@pytest.mark.parametrize(
    "text",
    ["", "i", "i-1", "s", "s1:2", "s2:1:", "s1:5:7", "s1:5:3,2", "s0:1:", "s1:2:1,", "i" + "1" * 19]
    + ["i1.", "i1.0", "i1.01", "s.1:2:", "s0.1:2:", "s7.", "s7.i1", "s1:2:.7"]
    + ["i١", "s1:9:" + ",".join(["2"] * 5000)],
)
def test_other_text_is_no_mark(text):
    assert parsed(text) is None


@given(snapshots(), numbers)
def test_cursors_of_another_database_are_told_apart(snapshot, number):
    assert not is_of_the_past(EventCursor(snapshot), EventCursor(str(number)))
    assert not is_of_the_past(EventCursor(str(number)), EventCursor(snapshot))


@given(numbers)
def test_a_cursor_from_after_the_newest_is_not_of_the_past(number):
    assert is_of_the_past(EventCursor(str(number)), EventCursor(str(number)))
    assert not is_of_the_past(EventCursor(str(number + 1)), EventCursor(str(number)))
