import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocation.transactions.logic.search import (
    All,
    Any_,
    BadQuery,
    Everything,
    Not,
    Term,
    parsed,
    sort_fields,
)

A, B, C = (Term((name,), "is", 1) for name in "abc")


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("", Everything()),
        ("*", Everything()),
        ("a:1", A),
        ("a:1 b:1", All((A, B))),
        ("a:1 AND b:1 OR c:1", Any_((All((A, B)), C))),
        ("a:1 AND (b:1 OR c:1)", All((A, Any_((B, C))))),
        ("NOT a:1", Not(A)),
        ("NOT NOT a:1", Not(Not(A))),
        ("a:1.5", Term(("a",), "is", 1.5)),
        ("a:-2", Term(("a",), "is", -2)),
        ("a:true", Term(("a",), "is", True)),
        ('a:"x \\"y\\" z"', Term(("a",), "is", 'x "y" z')),
        ("a.b.c:x*", Term(("a", "b", "c"), "starts", "x")),
        ("a:*", Term(("a",), "exists")),
        ("a:>=1", Term(("a",), "gte", 1)),
        ("a:[1 TO 2}", All((Term(("a",), "gte", 1), Term(("a",), "lt", 2)))),
        ("a:[* TO *]", Term(("a",), "exists")),
        ("a:2026-01-01T10:00", Term(("a",), "is", "2026-01-01T10:00")),
    ],
)
def test_a_query_is_read(query, tree):
    assert parsed(query) == tree


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(query):
    try:
        parsed(query)
    except BadQuery as error:
        assert str(error)


@given(st.text(alphabet='ab:"()[]{}*<>= TOANDRN\\.', max_size=40))
def test_any_text_of_query_characters_is_read_or_refused(query):
    try:
        parsed(query)
    except BadQuery as error:
        assert str(error)


def test_a_query_is_not_deeper_than_its_limit():
    with pytest.raises(BadQuery):
        parsed("(" * 100 + "a:1" + ")" * 100)


def test_sort_fields_have_a_direction():
    assert sort_fields("age:desc, name.first") == [(("age",), True), (("name", "first"), False)]
    with pytest.raises(BadQuery):
        sort_fields("age:sideways")


@pytest.mark.parametrize(
    "text", [None, 5, b"a:1", "a:\x00", "a:\ud800", " OR ".join(["a:1"] * 201), "a.1.2.3.4.5:1"]
)
def test_a_query_that_no_database_could_answer_is_refused(text):
    with pytest.raises(BadQuery):
        parsed(text)


@pytest.mark.parametrize("text", [None, "\x00", ",".join(["a"] * 21)])
def test_an_order_that_no_database_could_keep_is_refused(text):
    with pytest.raises(BadQuery):
        sort_fields(text)
