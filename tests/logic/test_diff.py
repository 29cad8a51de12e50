import json

from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.diff import NOTHING, diff

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("aßこ", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)


def side(lines, left_out):
    return "\n".join(line.text for line in lines if line.mark != left_out)


@given(values, values)
def test_each_side_of_a_diff_is_its_value(before, after):
    lines = diff(before, after)
    assert json.loads(side(lines, "added")) == before
    assert json.loads(side(lines, "removed")) == after


@given(values)
def test_a_value_does_not_differ_from_itself(value):
    assert {line.mark for line in diff(value, value)} == {"same"}


@given(values)
def test_what_did_not_exist_is_all_new(value):
    assert {line.mark for line in diff(NOTHING, value)} == {"added"}
