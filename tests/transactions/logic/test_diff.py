"""The diff of any two JSON values leads from the one to the other."""

from hypothesis import given
from hypothesis import strategies as st

from allocation.transactions.logic.diff import MISSING, Change, applied, diff, same

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=30,
)
few = st.lists(st.integers(0, 3), max_size=8)


@given(values, values)
def test_applying_the_diff_to_before_gives_after(before, after):
    assert same(applied(before, diff(before, after)), after)


@given(few, few)
def test_lists_that_share_items_lead_to_each_other(before, after):
    assert applied(before, diff(before, after)) == after


@given(values)
def test_a_value_does_not_differ_from_itself(value):
    assert diff(value, value) == []


@given(values, values)
def test_swapping_the_values_swaps_the_changes(before, after):
    back = {repr(Change(c.path, c.after, c.before)) for c in diff(after, before)}
    there = {repr(change) for change in diff(before, after)}
    assert len(back) == len(there)


@given(values, values)
def test_every_change_is_one(before, after):
    assert not any(same(change.before, change.after) for change in diff(before, after))


@given(values, values)
def test_what_is_given_stays_as_it_is(before, after):
    copy = repr(before)
    applied(before, diff(before, after))
    assert repr(before) == copy


def test_big_numbers_are_compared_exactly():
    assert diff({"n": 2**53}, {"n": 2**53 + 1}) == [Change(("n",), 2**53, 2**53 + 1)]


def test_one_and_true_and_a_float_are_three_things():
    assert len(diff([1, True, 1.0], [True, 1.0, 1])) == 3


def test_null_is_a_value_and_a_missing_member_is_none():
    assert diff({"a": None}, {}) == [Change(("a",), None, MISSING)]


def test_an_item_put_in_front_is_one_change():
    assert diff(["b", "c"], ["a", "b", "c"]) == [Change((0,), MISSING, "a")]


def test_the_path_leads_into_the_depth():
    before = {"list": [{"x": 1}, {"x": 2}]}
    after = {"list": [{"x": 1}, {"x": 3}]}
    assert diff(before, after) == [Change(("list", 1, "x"), 2, 3)]
