"""Data is checked against a script's schema, formats included."""

import pytest

from queues.errors import DataRefused
from queues.schema import check

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
