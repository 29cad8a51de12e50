import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.logic.search_query import QUALIFIERS, Term, parsed, written


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("word", [Term("", "word")]),
        ("queue:mail x", [Term("queue", "mail"), Term("", "x")]),
        ('error:"timed out"', [Term("error", "timed out")]),
        ('"two words"', [Term("", "two words")]),
        ("data.to.0:ada", [Term("data", "ada", ("to", "0"))]),
        ("queue.x:mail", [Term("", "queue.x:mail")]),
        ("http://a/b", [Term("", "http://a/b")]),
        ("script:/mailer/send", [Term("script", "/mailer/send")]),
    ],
)
def test_words_and_qualifiers(text, terms):
    assert parsed(text) == terms


@given(st.text(max_size=200))
def test_any_text_is_a_query(text):
    assert all(term.name in ("", *QUALIFIERS) for term in parsed(text))


@given(st.sampled_from(QUALIFIERS), st.text(min_size=1).filter(lambda text: '"' not in text))
def test_what_is_written_is_read(name, value):
    assert parsed(written(name, value)) == [Term(name, value)]
