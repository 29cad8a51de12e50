"""Data is checked against a script's schema, formats included."""

import pytest

from queues.errors import DataRefused
from queues.schema import check, schema_error

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
    with pytest.raises(DataRefused, match=f"to: '<b>nonsense</b>' is not a '{form}'"):
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
    with pytest.raises(DataRefused, match="a: 'x' is not of type 'integer'"):
        check(schema, {"a": "x"})


def test_a_schema_that_refers_to_itself_alone_refuses():
    with pytest.raises(DataRefused, match="refers to itself"):
        check({"$ref": "#"}, 1)
