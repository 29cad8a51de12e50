"""What may be asked of an instance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocation.logic.instance_settings import CHECKS, SENTENCES, refusal

WRONG = [
    ("weight", [0, -1, 10**12, 1.5, True, None, "2"]),
    ("capacity", [-1, 10**12, 2.0, False, "x"]),
    ("labels", [None, [], {1: "x"}, {"": "x"}, {"a": {}}, {"a": "\x00"}, {"x" * 256: "y"}]),
    ("reason", [None, 5, "x" * 256, "\x00", "\ud800"]),
    ("lease_seconds", [0, -1, float("nan"), float("inf"), 1e300, "5", True]),
    ("every_seconds", [0, -1, float("nan"), float("inf"), None, "5", True]),
    ("deadline_seconds", [-1, float("nan"), float("inf"), 10**30, "5"]),
    ("moves_per_minute", [0, -1, 1.5, 10**12, "6"]),
    ("source", ["me", "", None, []]),
]
RIGHT = {
    "weight": 1,
    "capacity": None,
    "labels": {"zone": "north", "port": 80},
    "reason": "",
    "lease_seconds": 0.1,
    "every_seconds": 0.5,
    "deadline_seconds": 0,
    "moves_per_minute": None,
    "source": "dns",
}


@pytest.mark.parametrize(("name", "values"), WRONG)
def test_a_wrong_wish_is_named_with_what_it_must_be(name, values):
    assert {refusal({name: value}) for value in values} == {f"{name} must be {SENTENCES[name]}"}


def test_every_wish_has_a_value_that_may_be_asked_for():
    assert set(RIGHT) == set(CHECKS) == set(SENTENCES)
    assert refusal(RIGHT) is None


def test_an_unknown_wish_is_refused_with_those_that_there_are():
    assert refusal({"id": "b"}) == "an instance has no id: there are weight, capacity, labels"


@given(st.dictionaries(st.sampled_from(sorted(CHECKS)), st.none() | st.integers() | st.floats()))
def test_whatever_is_asked_for_there_is_an_answer(wishes):
    assert refusal(wishes) is None or refusal(wishes).split()[0] in wishes
