import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocation.transactions.logic.patch import BadPatch, TestFailed, merged, patched

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
)
objects = st.dictionaries(st.text(max_size=3), values, max_size=4)

GOOD = [
    ({"a": 1}, {"op": "add", "path": "/b", "value": 2}, {"a": 1, "b": 2}),
    ({"a": [1, 3]}, {"op": "add", "path": "/a/1", "value": 2}, {"a": [1, 2, 3]}),
    ({"a": [1]}, {"op": "add", "path": "/a/-", "value": 2}, {"a": [1, 2]}),
    ({"a": 1}, {"op": "add", "path": "", "value": [1]}, [1]),
    ({"a": 1, "b": 2}, {"op": "remove", "path": "/a"}, {"b": 2}),
    ({"a": [1, 2]}, {"op": "remove", "path": "/a/0"}, {"a": [2]}),
    ({"a": 1}, {"op": "replace", "path": "/a", "value": 2}, {"a": 2}),
    ({"a": {"b": 1}}, {"op": "move", "from": "/a/b", "path": "/c"}, {"a": {}, "c": 1}),
    ({"a": [1]}, {"op": "copy", "from": "/a", "path": "/b"}, {"a": [1], "b": [1]}),
    ({"a/b": 1, "m~n": 2}, {"op": "remove", "path": "/a~1b"}, {"m~n": 2}),
    ({"a/b": 1, "m~n": 2}, {"op": "remove", "path": "/m~0n"}, {"a/b": 1}),
    ({"n": 1}, {"op": "inc", "path": "n"}, {"n": 2}),
    ({"n": 1}, {"op": "dec", "path": "n", "value": 3}, {"n": -2}),
    ({"n": 1}, {"op": "test", "path": "/n", "value": 1}, {"n": 1}),
]
BAD = [
    ({"a": 1}, {"op": "remove", "path": "/b"}),
    ({"a": 1}, {"op": "replace", "path": "/b", "value": 1}),
    ({"a": 1}, {"op": "remove", "path": ""}),
    ({"a": [1]}, {"op": "add", "path": "/a/2", "value": 1}),
    ({"a": [1]}, {"op": "remove", "path": "/a/-"}),
    ({"a": [1]}, {"op": "remove", "path": "/a/01x"}),
    ({"a": 1}, {"op": "add", "path": "/a/b", "value": 1}),
    ({"a": {}}, {"op": "move", "from": "/a", "path": "/a/b"}),
    ({"a": "x"}, {"op": "inc", "path": "/a"}),
    ({"a": True}, {"op": "inc", "path": "/a"}),
    ({"a": 1}, {"op": "add", "path": "/b"}),
    ({"a": 1}, {"path": "/b"}),
    ({"a": 1}, {"op": "add", "path": 7, "value": 1}),
    ({"a": 1}, "add"),
    ({"a": 1}, {"op": [], "path": "/a"}),
    ({"a": 1}, {"op": {}, "path": "/a"}),
    ({"a": [1]}, {"op": "remove", "path": "/a/" + "9" * 5000}),
]


@pytest.mark.parametrize(("value", "operation", "expected"), GOOD, ids=repr)
def test_an_operation_does_what_the_standard_says(value, operation, expected):
    assert patched(value, [operation]) == expected


@pytest.mark.parametrize(("value", "operation"), BAD, ids=repr)
def test_an_operation_that_does_not_fit_is_refused(value, operation):
    with pytest.raises(BadPatch):
        patched(value, [operation])


@pytest.mark.parametrize("expected", [2, "1", True, None])
def test_a_test_of_another_value_fails(expected):
    with pytest.raises(TestFailed):
        patched({"n": 1}, [{"op": "test", "path": "/n", "value": expected}])


@pytest.mark.parametrize("expected", [[{"a": True}], [{"a": 1, "b": 2}], [{"a": 1}, 2], [1]])
def test_a_test_looks_into_the_depth(expected):
    steps = [{"op": "test", "path": "/n", "value": [{"a": 1.0}]}]
    assert patched({"n": [{"a": 1}]}, steps)
    with pytest.raises(TestFailed):
        patched({"n": [{"a": 1}]}, [{**steps[0], "value": expected}])


@given(objects, st.text(max_size=3), values)
def test_add_then_remove_leaves_the_rest(value, name, member):
    path = "/" + name.replace("~", "~0").replace("/", "~1")
    rest = {key: kept for key, kept in value.items() if key != name}
    steps = [{"op": "add", "path": path, "value": member}, {"op": "remove", "path": path}]
    assert patched(value, steps) == rest


@given(values, values)
def test_a_merge_patch_is_idempotent(value, changes):
    once = merged(value, changes)
    assert merged(once, changes) == once


@given(objects)
def test_a_merge_patch_of_nulls_empties(value):
    assert merged(value, dict.fromkeys(value)) == {}


@pytest.mark.parametrize("operations", [None, 5, "add", {"op": "add"}])
def test_a_patch_is_a_list(operations):
    with pytest.raises(BadPatch, match="a list of operations"):
        patched({}, operations)


def test_copies_of_copies_end_before_the_memory_does():
    both = [{"op": "copy", "from": "", "path": path} for path in ("/a", "/b")]
    with pytest.raises(BadPatch, match="deeper than 32 levels"):
        patched({}, both[:1] * 5000)
    wide = {"l": [0] * 1000}
    grow = [{"op": "copy", "from": "/l", "path": "/l/-"}, {"op": "copy", "from": "", "path": "/m"}]
    with pytest.raises(BadPatch, match="more than 100000 values"):
        patched(wide, grow * 60)
    with pytest.raises(BadPatch, match="more than 100000 values|deeper"):
        patched({}, both * 40)
