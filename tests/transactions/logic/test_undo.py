"""Undo gives every key its first image back, whatever happened to it, and nothing else."""

import pytest
from hypothesis import find, given
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from allocation.transactions.logic.undo import plan
from tests.transactions.logic.undo_model import ABSENT, MARKER, Store, forward_undo, journalled

keys = st.sampled_from(["a", "b", "c"])
values = st.sampled_from([{}, [], 0, False, "", None, {"v": 1}, {"v": 2}, MARKER])
operations = st.lists(
    st.tuples(st.sampled_from(["put", "delete", "third party"]), keys, values), max_size=12
)
starts = st.dictionaries(keys, values)

WRONG_SHAPES = {
    "put twice": ({"a": 1}, [("put", "a", 2), ("put", "a", 3)]),
    "put, then delete": ({"a": 1}, [("put", "a", 2), ("delete", "a", None)]),
    "delete, then put": ({"a": 1}, [("delete", "a", None), ("put", "a", 2)]),
    "an empty object": ({"a": {}}, [("put", "a", {"v": 1})]),
    "a new key put twice": ({}, [("put", "a", 1), ("put", "a", 2)]),
    "the marker as a value": ({"a": {"v": 1}}, [("put", "a", MARKER)]),
}


def restore_untouched(store, restore):
    """As the statement of the database does it: what somebody else wrote since stays."""
    if store.image(restore.key).ref == restore.expected_ref:
        store.restore(restore.key, restore.image)


def undo(store, journal):
    for restore in plan(journal):
        restore_untouched(store, restore)


@given(starts, operations)
def test_undo_restores_every_key_that_no_third_party_wrote(start, script):
    store = Store(start)
    journal, strangers = journalled(store, script)
    undo(store, journal)
    expected = {**start, **strangers}
    for key in "abc":
        assert store.value(key) == expected.get(key, ABSENT)


@given(starts, operations, st.integers(0, 3))
def test_undo_can_be_interrupted_anywhere_and_resumed(start, script, done):
    store = Store(start)
    journal, strangers = journalled(store, script)
    for restore in plan(journal)[:done]:
        restore_untouched(store, restore)
    undo(store, journal)
    assert {key: store.value(key) for key in "abc"} == {
        key: {**start, **strangers}.get(key, ABSENT) for key in "abc"
    }


@given(starts, operations)
def test_a_plan_names_each_key_once(start, script):
    journal, _ = journalled(Store(start), script)
    keys_of_plan = [restore.key for restore in plan(journal)]
    assert sorted(keys_of_plan) == sorted({write.key for write in journal})


@pytest.mark.parametrize("shape", WRONG_SHAPES)
def test_the_shapes_that_a_forward_undo_gets_wrong_are_right(shape):
    start, script = WRONG_SHAPES[shape]
    store = Store(start)
    journal, _ = journalled(store, script)
    undo(store, journal)
    assert store.value("a") == start.get("a", ABSENT)


truthy = st.sampled_from([1, {"v": 1}, {"v": 2}, "x"])
puts = st.tuples(st.just("put"), st.just("a"), truthy)
deletes = st.just(("delete", "a", None))
there = truthy.map(lambda value: {"a": value})
FAMILIES = {
    "put twice": st.tuples(there, st.lists(puts, max_size=4)),
    "put, then delete": st.tuples(there, st.tuples(puts, deletes)),
    "delete, then put": st.tuples(there, st.tuples(deletes, puts)),
    "falsy values": st.tuples(st.just({"a": {}}), st.lists(puts, max_size=1)),
    "a new key": st.tuples(st.just({}), st.lists(puts, max_size=4)),
    "the marker": st.tuples(there, st.just([("put", "a", MARKER)])),
}


def goes_wrong(undo_all, start, script):
    store = Store(start)
    journal, _ = journalled(store, script)
    undo_all(store, journal)
    return store.value("a") != start.get("a", ABSENT)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_search_finds_each_wrong_shape_of_a_forward_undo(family):
    find(FAMILIES[family], lambda case: goes_wrong(forward_undo, *case))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_search_finds_none_here(family):
    with pytest.raises(NoSuchExample):
        find(FAMILIES[family], lambda case: goes_wrong(undo, *case))


@pytest.mark.parametrize("shape", WRONG_SHAPES)
def test_the_same_check_catches_a_forward_undo(shape):
    start, script = WRONG_SHAPES[shape]
    store = Store(start)
    journal, _ = journalled(store, script)
    forward_undo(store, journal)
    assert store.value("a") != start.get("a", ABSENT)
