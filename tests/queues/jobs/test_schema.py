"""Data is checked against a script's schema, formats included."""

import re

import pytest

from queues.errors import DataRefused
from queues.schema.validation import check, schema_error
from queues.schema.words import FORMATS

GOOD = {
    "date": "2026-02-28",
    "email": "ada@example.net",
    "ipv4": "10.0.0.1",
    "ipv6": "fd00::1",
    "uuid": "0b4e1c5e-7f3a-4a57-9f0c-5d8f6a1b2c3d",
}


def of(form):
    return {"type": "object", "properties": {"to": {"type": "string", "format": form}}}


@pytest.mark.parametrize("form", GOOD)
def test_a_format_takes_what_fits_and_refuses_what_does_not(form):
    assert check(of(form), {"to": GOOD[form]}) == {"to": GOOD[form]}
    said = f'to: must be {FORMATS[form]}, not "<b>nonsense</b>"'
    with pytest.raises(DataRefused, match=re.escape(said)):
        check(of(form), {"to": "<b>nonsense</b>"})


def test_a_format_that_we_do_not_know_is_a_remark():
    assert check(of("phone"), {"to": "anything"}) == {"to": "anything"}


@pytest.mark.parametrize("reference", ["#/nowhere", "#none", "http://127.0.0.1:9/x", "other.json"])
def test_a_reference_must_lead_somewhere_and_nothing_is_fetched(reference):
    schema = {"properties": {"a": {"$ref": reference}}}
    assert schema_error(schema).endswith("leads nowhere")
    with pytest.raises(DataRefused, match="leads nowhere"):
        check(schema, {"a": 1})


def test_references_within_a_schema_are_followed():
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    assert schema_error(schema) is None
    with pytest.raises(DataRefused, match='a: must be a whole number, not "x"'):
        check(schema, {"a": "x"})


def test_a_schema_that_refers_to_itself_alone_refuses():
    with pytest.raises(DataRefused, match="refers to itself"):
        check({"$ref": "#"}, 1)


SLOW = r"^(a+)+$"  # Python's own engine would be at it for years
TEXT = "a" * 10_000 + "!"


def texts(pattern):
    return {"properties": {"to": {"type": "string", "pattern": pattern}}}


@pytest.mark.parametrize("draft", ["", "http://json-schema.org/draft-07/schema#"])
@pytest.mark.parametrize(
    "part",
    [
        {"pattern": SLOW},
        {"$ref": "#/$defs/slow"},
        {"anyOf": [{"pattern": SLOW}, {"type": "integer"}]},
    ],
)
def test_a_pattern_never_takes_longer_than_the_text_is_long(part, draft):
    schema = {"$defs": {"slow": {"pattern": SLOW}}, "properties": {"to": {**part}}}
    schema["properties"]["to"] |= {"$schema": draft} if draft else {}
    assert schema_error(schema) is None
    assert check(schema, {"to": "aaa"}) == {"to": "aaa"}
    with pytest.raises(DataRefused):
        check(schema, {"to": TEXT})


@pytest.mark.parametrize("others", [False, {"type": "integer"}])
def test_names_are_compared_with_patterns_in_the_same_way(others):
    schema = {"patternProperties": {SLOW: {"type": "string"}}, "additionalProperties": others}
    assert check(schema, {"aa": "x"}) == {"aa": "x"}
    for wrong in ({"aa": 1}, {TEXT: "x"}):
        with pytest.raises(DataRefused):
            check(schema, wrong)


@pytest.mark.parametrize(
    "schema",
    [
        texts(r"(a)\1"),
        texts("(?=.*[A-Z])"),
        {"patternProperties": {"(?!x)": True}},
        {"patternProperties": {"a": True}, "unevaluatedProperties": False},
    ],
)
def test_a_pattern_that_cannot_be_compared_quickly_is_refused(schema):
    assert schema_error(schema) is not None
    with pytest.raises(DataRefused, match="schema: "):
        check(schema, {"to": "x"})


def test_the_meta_schema_can_be_referred_to():
    schema = {"properties": {"a": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}}
    assert schema_error(schema) is None
    assert check(schema, {"a": {"type": "string"}}) == {"a": {"type": "string"}}
    with pytest.raises(DataRefused):
        check(schema, {"a": {"type": 7}})


UNIQUE = {"properties": {"a": {"uniqueItems": True}}}


@pytest.mark.parametrize(
    "items",
    [[1, 2, "1", [1], {"a": 1}, True, None], [1, True, 0, False], [[1], [True]], [{}, []]],
)
def test_items_that_differ_are_unique(items):
    assert check(UNIQUE, {"a": items}) == {"a": items}


@pytest.mark.parametrize(
    "items", [[1, 1.0], [{"a": [1, {}]}, {"a": [1.0, {}]}], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]]
)
def test_items_that_are_equal_are_not_unique(items):
    with pytest.raises(DataRefused, match="same item twice"):
        check(UNIQUE, {"a": items})


TEXTS_ONLY = {"additionalProperties": {"type": "string"}}


class Counted(str):
    """A text that knows how often texts of its kind were compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"uniqueItems": True}, lambda texts: [{"n": text} for text in texts]),
        (
            {
                "allOf": [{"additionalProperties": {"type": "string"}}],
                "unevaluatedProperties": False,
            },
            lambda texts: dict.fromkeys(texts, "x"),
        ),
    ],
)
def test_no_member_is_compared_with_every_other(schema, made):
    Counted.compared = 0
    check(schema, made([Counted(number) for number in range(1_000)]))
    assert Counted.compared < 10_000


def test_what_is_not_evaluated_is_refused():
    with pytest.raises(DataRefused, match='data: must not have the member "a"'):
        check({"unevaluatedProperties": False}, {"a": 1})
    with pytest.raises(DataRefused, match="data: has 1 item too many"):
        check({"unevaluatedItems": False}, [1])


EITHER = 'a: must be a whole number, not a list or must be "all"'
ONE = "alternatives, and only one may fit"
AT_LEAST_TWO = "a: must have at least 2 fitting items"
NAMES = 'a: the name "long" must have at most 2 characters'


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ({"type": "object"}, None, "a: must be an object, but is empty"),
        ({"type": ["integer", "null"]}, "x", 'a: must be a whole number or null, not "x"'),
        ({"type": "integer"}, {"b": 1}, "a: must be a whole number, not an object"),
        ({"type": "integer", "x-secret": True}, "pin", "a: must be a whole number, not text"),
        ({"type": "integer"}, "x" * 99, "a: must be a whole number, not text"),
        ({"required": ["b"]}, {}, "a: b is missing"),
        ({"enum": ["air", "rail"]}, "sea", 'a: must be one of "air", "rail"'),
        ({"const": 7}, 8, "a: must be 7"),
        ({"format": "email"}, "ada", 'a: must be an email address, not "ada"'),
        ({"pattern": "^x"}, "y", "a: must match the pattern ^x"),
        ({"minimum": 3}, 2, "a: must be at least 3"),
        ({"minLength": 3}, "ab", "a: must have at least 3 characters"),
        ({"minLength": 1}, "", "a: must have at least 1 character"),
        ({"uniqueItems": True}, [1, 1], "a: must not have the same item twice"),
        ({"additionalProperties": False}, {"b": 1}, 'a: must not have the member "b"'),
        ({"anyOf": [{"type": "integer"}, {"const": "all"}]}, [], EITHER),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
            7,
            "a: fits more than one of the " + ONE,
        ),
        ({"not": {"enum": [0, 1]}}, 1, "a: must not be 0 or 1"),
        ({"not": {"minimum": 3}}, 4, "a: is what the schema rules out"),
        ({"contains": {"type": "integer"}}, ["x"], "a: must have an item that is a whole number"),
        ({"contains": {"type": "null"}, "minContains": 2}, [None], AT_LEAST_TWO),
        ({"prefixItems": [{}], "items": False}, [1, 2], "a: must have at most 1 item"),
        ({"propertyNames": {"maxLength": 2}}, {"long": 1}, NAMES),
        ({"dependentRequired": {"b": ["c"]}}, {"b": 1}, "a: c is missing, which b needs"),
        (False, "a word", "data: has a member or an item that is not allowed"),
    ],
)
def test_a_refusal_is_plain_english(part, value, said):
    with pytest.raises(DataRefused) as refusal:
        check({"properties": {"a": part}}, {"a": value})
    assert str(refusal.value) == said


SECRETS = [
    {"not": {"type": "string"}},
    {"oneOf": [{"type": "string"}, {"minLength": 1}]},
    {"anyOf": [{"type": "integer"}, {"type": "object"}]},
    {"format": "email", "type": "string"},
    {"$ref": "#/$defs/n"},
]


@pytest.mark.parametrize("part", SECRETS)
def test_no_refusal_has_a_secret(part):
    secret = part | {"x-secret": True}
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"pin": secret}}
    with pytest.raises(DataRefused) as refusal:
        check(schema, {"pin": "hunter2"})
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "strnig"}, 'type: must be one of "array", "boolean"'),
        (
            {"properties": {"a": {"minimum": "x"}}},
            'properties/a/minimum: must be a number, not "x"',
        ),
        ({"required": "a"}, 'required: must be a list, not "a"'),
    ],
)
def test_a_schema_that_is_none_is_told_in_plain_english(schema, said):
    assert schema_error(schema).startswith(said)
