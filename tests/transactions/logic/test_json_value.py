import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocation.transactions.logic.json_value import (
    MAX_DEPTH,
    BadName,
    NotJson,
    checked_name,
    encoded,
)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
scalars = st.none() | st.booleans() | st.integers(-(10**39), 10**39) | texts
numbers = st.floats(-9.9e39, 9.9e39)
values = st.recursive(
    scalars | numbers, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=10
)


@given(values)
def test_what_is_encoded_reads_back_the_same(value):
    assert json.loads(encoded(value)) == value


def test_a_value_may_be_so_deep_and_no_deeper():
    deep = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert encoded(deep)
    with pytest.raises(NotJson):
        encoded([deep])


@given(st.text(max_size=300))
def test_a_name_is_kept_or_refused(name):
    try:
        assert checked_name(name, "key") == name
    except BadName as error:
        assert "key" in str(error)


class Silent(str):
    """A name that nobody may write out."""

    def __format__(self, _):
        raise AssertionError("a long name would be written out for everything below it")


def test_a_place_is_written_out_only_where_something_is_wrong():
    assert encoded({Silent("long"): [1, {"a": 2}]}) == '{"long":[1,{"a":2}]}'


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": [1, {"b": float("nan")}]}, r"\$\.a\[1\]\.b is nan"),
        ({"a": {1: 2}}, r"\$\.a has the member 1"),
        (["x", "\x00"], r"^\$\[1\] contains the character NUL"),
        ({"a\x00": 1}, r"^\$\.'a\\x00' contains the character NUL"),
        (object(), r"\$ is a object"),
    ],
)
def test_the_place_is_named(value, said):
    with pytest.raises(NotJson, match=said):
        encoded(value)
