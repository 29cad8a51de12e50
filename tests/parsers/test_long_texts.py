"""Ten thousand awkward characters in front of every parser."""

from functools import partial

import pytest

from tests.parsers.long_texts import PARSERS, SHAPES, read, text_of
from tests.parsers.steps import steps

SHORT = 500


def test_steps_that_grow_faster_than_the_text_are_seen():
    once, twice = (steps(lambda n=n: [0 for _ in range(n) for _ in range(n)]) for n in (50, 100))
    assert twice > 3 * once


@pytest.mark.parametrize("parser", PARSERS)
def test_steps_grow_with_the_text(parser):
    for shape in SHAPES:
        texts = [text_of(shape, length) for length in (SHORT, 2 * SHORT)]
        once, twice = (steps(partial(read, parser, text)) for text in texts)
        assert twice <= 2.2 * once + 1000, shape


@pytest.mark.parametrize("parser", PARSERS)
def test_ten_thousand_characters_are_read_or_refused(parser):
    for shape in SHAPES:
        read(parser, text_of(shape))
