import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.logic.arguments import argv
from queues.logic.options import BadOption, Options, resolve

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_nothing_given_is_the_default():
    assert resolve(NOW) == Options()


def test_what_is_given_at_push_wins_an_explicit_zero_included():
    given_at_push = {"max_failures": 0, "repeat_times": 2}
    script = {"max_failures": 3, "repeat_times": 5, "back_off": 7}
    manifest = {"back_off": 9, "repeat_delay": 11}
    options = resolve(NOW, given_at_push, script, manifest)
    assert (options.max_failures, options.repeat_times) == (0, 2)
    assert (options.back_off, options.repeat_delay) == (7, 11)


@given(st.sampled_from(["max_failures", "repeat_times"]), st.floats(max_value=-0.1))
def test_any_negative_number_means_for_ever(name, value):
    assert getattr(resolve(NOW, {name: value}), name) == -1


@pytest.mark.parametrize("value", [0, -1, -5.5, math.inf, -math.inf])
def test_repeat_until_without_meaning_is_no_limit(value):
    assert resolve(NOW, {"repeat_until": value}).repeat_until is None


def test_moments_and_durations_are_accepted_as_objects():
    options = resolve(
        NOW,
        {"delay_until": NOW + timedelta(days=1), "repeat_delay": timedelta(seconds=5)},
        {"repeat_until": 1_000},
    )
    assert options.delay_until == NOW + timedelta(days=1)
    assert options.repeat_delay == 5000
    assert options.repeat_until == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)


def test_delay_is_added_to_now():
    assert resolve(NOW, {"delay": 1500}).delay_until == NOW + timedelta(seconds=1.5)


BAD = [
    ("max_failures", math.nan),
    ("max_failures", "3"),
    ("max_failures", True),
    ("max_failures", 1.5),
    ("delay_until", math.inf),
    ("delay_until", -1),
    ("delay_until", datetime(999, 1, 1, tzinfo=UTC)),
    ("repeat_until", datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))),
    ("back_off", {"mount": 5, "name": "a"}),
    ("success", {"mount": "/a", "name": "\x00"}),
    ("unique_key", "\ud800"),
    ("repeat_delay", -1),
    ("repeat_delay", math.inf),
    ("repeat_until", math.nan),
    ("timeout", 0),
    ("priority", 3),
    ("priority", 0.5),
    ("unique_key", ""),
    ("sticky_key", "x" * 256),
    ("back_off", -1),
    ("back_off", math.nan),
    ("back_off", {"strategy": "linear"}),
    ("back_off", {"strategy": "foxx", "seconds": 1}),
    ("back_off", {"mount": "/a", "name": "b", "ms": 1}),
    ("success", {"mount": "/a", "name": "b", "max_failures": 3}),
    ("success", lambda: None),
    ("success", {"function": "m:" + "f" * 300}),
    ("failure", {"function": 5}),
    ("failure", {"function": "a\x00b:c"}),
    ("success", "os.system"),
    ("colour", "red"),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_an_option_without_meaning_is_refused_by_name(name, value):
    with pytest.raises(BadOption, match=name):
        resolve(NOW, {name: value})


def test_a_delay_at_push_wins_over_a_moment_of_the_script():
    later = NOW + timedelta(days=1)
    options = resolve(NOW, {"delay": 5000}, {"delay_until": later})
    assert options.delay_until == NOW + timedelta(seconds=5)
    assert resolve(NOW, {"delay_until": later}, {"delay": 5000}).delay_until == later


def test_a_delay_and_a_moment_at_once_are_refused():
    with pytest.raises(BadOption, match="give either delay or delay_until"):
        resolve(NOW, {"delay": 5000, "delay_until": NOW})


def test_a_function_is_stored_by_its_import_path():
    assert resolve(NOW, {"success": math.sqrt}).success == {"function": "math:sqrt"}


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists))
def test_a_list_is_spread_and_anything_else_is_one_argument(data):
    expected = list(data) if isinstance(data, list) else [] if data is None else [data]
    assert argv(data) == expected
