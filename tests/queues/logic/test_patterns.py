"""Patterns of schemas find what Python's engine finds, but never try twice."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.logic.regex.engine import MOST_KEPT, Pattern
from queues.logic.regex.syntax import BadPattern

ATOMS = ["a", "b", ".", r"\d", r"\w", r"\S", "[ab]", "[^a]", "[]a]", r"[\]b]", "_", r"\.", r"\x61"]
EDGES = ["^", r"\Z", r"\b", r"\B"]
COUNTS = ["", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "{,2}", "*?", "+?"]
AWKWARD = ["(a+)+$", "^(a|a)*$", "(a*)*b", r"([a-z]+(\.[^:]+)*):", "(.*a){20}", r"(\w+\s?)*!"]


def patterns(depth=3):
    one = st.builds(str.__add__, st.sampled_from(ATOMS), st.sampled_from(COUNTS))
    if depth == 0:
        return one
    inner = patterns(depth - 1)
    rows = st.lists(inner | st.sampled_from(EDGES), max_size=4).map("".join)
    group = st.sampled_from(["(?:", "(", "(?P<g>"]) if depth == 1 else st.just("(?:")
    counted = st.builds("{}{}){}".format, group, rows, st.sampled_from(COUNTS))
    either = st.builds("(?:{}|{})".format, rows, rows)
    return one | rows | counted | either


def is_one(text):
    try:
        re.compile(text)
    except re.error:  # the same name twice, or an edge that is repeated
        return False
    return True


# Of an empty text Python says that it has no inside, and later versions that it has.
TEXTS = st.text("ab_.! 1]", min_size=1, max_size=12)


@given(patterns().filter(is_one), st.lists(TEXTS, max_size=6))
def test_it_finds_what_the_standard_engine_finds(pattern, texts):
    ours = Pattern(pattern)
    for text in texts:
        assert ours.found_in(text) == (re.search(pattern, text) is not None)


@pytest.mark.parametrize("digit", ["٢", "２"])
def test_digits_of_other_scripts_count_nothing(digit):
    pattern = f"a{{{digit}}}"
    assert re.search(pattern, pattern)
    assert Pattern(pattern).found_in(pattern)
    assert not Pattern(pattern).found_in("aa")


@pytest.mark.parametrize("pattern", AWKWARD)
def test_work_grows_with_the_text(pattern):
    ours = Pattern(pattern)
    for count in (1_000, 2_000):
        ours.found_in("a" * count + "!")
        assert ours._kept < 200  # moves that had to be found out


def test_what_is_kept_is_bounded():
    ours = Pattern("^[^x]*$")
    every = "".join(map(chr, range(0x20, 0xD000)))
    assert ours.found_in(every.replace("x", ""))
    assert ours._kept <= MOST_KEPT


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?i)a", "(?i:a)", "(?P<n>a)(?P=n)", "(?>a)"]
    + ["a*+", "a{1,2}+", "(?#x)", r"\012", "a{1001}", "(?:a{100}){100}", "(" * 60 + ")" * 60]
    + ["(", "[", "a**", "(?:){4000000000}", "(" * 100_000],
)
def test_what_cannot_be_compared_in_linear_time_is_refused(pattern):
    with pytest.raises(BadPattern):
        Pattern(pattern)


def test_the_end_is_the_very_end():
    assert Pattern("^a$").found_in("a")
    assert not Pattern("^a$").found_in("a\n")
