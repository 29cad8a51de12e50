"""No regular expression of the code can be made to try the same characters again and again."""

import re
import sys

import pytest

from tests.parsers.regex_steps import TooMany, steps
from tests.parsers.regexes import awkward, every_regex

FEW = 12
# Slow ones of other people's, and the one that froze a web process.
BAD = {
    "nested": (r'(?:([a-z]+(?:\.[^\s:"]+)*):)?(?:"([^"]*)"|(\S+))', True),
    "doubled": (r"(a+)+$", False),
    "either": (r"(?:a|a)*b", False),
    "end of blanks": (r"\s+$", True),
    "two anythings": (r".*a.*b", True),
}


@pytest.fixture(autouse=True)
def deep():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def slow_text(pattern, anywhere):
    """A text whose double takes far more than double the steps; None if there is none."""
    suspects = zip(*(awkward(pattern, FEW * times) for times in (1, 2, 8, 16)), strict=True)
    for once, twice, *longer in suspects:
        if is_slow(pattern, anywhere, once, twice) and is_slow(pattern, anywhere, *longer):
            return twice
    return None


def is_slow(pattern, anywhere, text, double):
    """A count such as {1,63} makes one jump, so one pair of texts alone says little."""
    try:
        once, twice = (steps(pattern, each, anywhere=anywhere) for each in (text, double))
    except TooMany:
        return True
    return twice > 2.5 * once + 50


@pytest.mark.parametrize("bad", BAD)
def test_a_slow_expression_is_found_out(bad):
    pattern, anywhere = BAD[bad]
    assert slow_text(re.compile(pattern), anywhere) is not None


@pytest.mark.parametrize("regex", every_regex(), ids=str)
def test_steps_grow_with_the_text(regex):
    assert slow_text(regex.pattern, regex.anywhere) is None
