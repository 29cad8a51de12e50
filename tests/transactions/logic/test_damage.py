"""A line of a journal is trusted only if it agrees with itself, its document and the history."""

import json

from hypothesis import given
from hypothesis import strategies as st

from allocation.transactions.logic.damage import NO_VERSION, Evidence, damage, is_json

SOUND = Evidence(7, "put", True, "r0", '{"v": 0}', "r1", 1, "r1", None, 7, 7, True)
texts = st.text(st.characters(codec="utf-8"), max_size=5)
finite = st.floats(allow_nan=False, allow_infinity=False)
members = st.none() | st.booleans() | st.integers() | finite | texts
stored = st.recursive(
    members, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)


@given(stored)
def test_every_value_that_can_be_stored_is_trusted(value):
    text = json.dumps(value, ensure_ascii=False)
    assert is_json(text) and is_json(text.encode())
    assert damage(SOUND._replace(before_value=text)) == ""


@given(st.binary())
def test_any_bytes_are_judged_and_raise_nothing(some):
    said = damage(SOUND._replace(before_value=some))
    assert (said == "") == is_json(some)


@given(st.sampled_from(["NaN", "Infinity", "-Infinity", "{", '"', "nul", "[" * 100_000]))
def test_what_only_looks_like_json_is_not(text):
    assert not is_json(text)


@given(st.integers(0, 6), st.integers(0, 6))
def test_a_version_of_somebody_else_is_never_undone(writer, other):
    assert damage(SOUND._replace(wrote_expected=writer)) != ""
    assert damage(SOUND._replace(wrote_before=other, wrote_present=writer)) == ""


def test_a_key_that_was_not_there_has_no_value():
    created = SOUND._replace(
        before_present=False, before_ref="", before_value=None, wrote_before=NO_VERSION
    )
    assert damage(created) == ""
    assert damage(created._replace(before_value="null")) != ""
    assert damage(created._replace(document=None)) == "it points to no document"
