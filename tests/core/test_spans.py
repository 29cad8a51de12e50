import pytest
from hypothesis import given
from hypothesis import strategies as st

from atributo_site.core.text import milliseconds, written


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("500ms", 500),
        ("5m", 300_000),
        ("1h30m", 5_400_000),
        (" 1d 2h ", 93_600_000),
        ("1s 5 ms", 1005),
        ("0s", 0),
    ],
)
def test_a_span_is_read(text, found):
    assert milliseconds(text) == found


@pytest.mark.parametrize("text", ["", "5", "soon", "h", "1h30", "30m1h", "-5m", "٣h", "1.5h"])
def test_what_is_no_span_is_none(text):
    assert milliseconds(text) is None


@given(st.integers(1, 10**13))
def test_what_is_written_is_read_back(span_ms):
    assert milliseconds(written(span_ms)) == span_ms


@given(st.text("0123456789dhms ", max_size=60))
def test_any_text_is_read_or_none(text):
    found = milliseconds(text)
    assert found is None or found >= 0
