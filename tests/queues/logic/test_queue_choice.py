"""Which queues a worker serves: any words are read or refused, and the order is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.logic.queue_choice import QueueChoice, from_facts, parsed

NAMES = st.text(st.characters(exclude_characters="\x00"), min_size=1, max_size=20)


@given(st.lists(NAMES, max_size=5), st.lists(NAMES, max_size=3), NAMES)
def test_any_words_are_read_or_refused_and_survive_the_row(words, excluded, queue):
    try:
        choice = parsed(words, excluded)
    except ValueError:
        return
    assert from_facts(choice.facts) == choice
    assert choice.serves(queue) == (choice.place(queue) is not None)


@given(NAMES, NAMES)
def test_a_queue_that_is_excluded_is_never_served(name, other):
    assert not QueueChoice((other, name), (), (name,)).serves(name)


@pytest.mark.parametrize(
    "words, queue, place",
    [
        ([], "mail", 0),
        (["mail"], "mail", 0),
        (["mail"], "mails", None),
        (["critical", "mail-*"], "mail-eu", 1),
        (["critical", "*"], "critical", 0),
        (["a[1]"], "a[1]", 0),
        (["critical:3", "default:1"], "default", 1),
    ],
)
def test_the_first_pattern_that_fits_is_the_place(words, queue, place):
    assert parsed(words).place(queue) == place


def test_weights_are_read_and_missing_ones_are_one():
    choice = parsed(["critical:3", "default"])
    assert (choice.weights, choice.is_strict, choice.words) == (
        (3, 1),
        False,
        ["critical:3", "default:1"],
    )


@pytest.mark.parametrize(
    "words, said",
    [
        (["mail:0"], "the weight of 'mail' is 0"),
        (["mail:12345"], "the weight of 'mail' is 12345"),
        (["mail", "mail"], "'mail' is named twice"),
        ([":3"], "not a queue's name"),
        (["x" * 256], "not a queue's name"),
    ],
)
def test_what_cannot_be_read_is_named(words, said):
    with pytest.raises(ValueError, match=said):
        parsed(words)
