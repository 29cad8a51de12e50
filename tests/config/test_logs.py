"""Log lines are one line of JSON each, and nothing in them is obeyed by a terminal."""

import json
import logging

import pytest
from django.test import Client

from atributo_site.config import logs

CHARACTERS = [
    *("\x00", "\x1b", "\x7f", "\x85", "\x9b", "\x9d", "\n", "\r", "\v"),  # C0 and C1
    *("\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"),  # directions
    *("\u2028", "\u2029", "\ufff9", "\ud800"),
]


@pytest.fixture
def line_of():
    """line_of(record) → what the handler of the site writes."""
    made = logs._standard_library("INFO")["formatters"]["json"]
    formatter = made.pop("()")(**made)
    return formatter.format


@pytest.mark.parametrize("character", CHARACTERS, ids=ascii)
def test_what_strangers_send_is_written_out(line_of, character):
    text = f"a{character}31m"
    error = (ValueError, ValueError(text), None)
    lines = [
        line_of(logging.makeLogRecord({"msg": text, "name": text})),
        line_of(logging.makeLogRecord({"msg": "%s", "args": (text,)})),
        line_of(logging.makeLogRecord({"msg": text, "exc_info": error})),
    ]
    assert [json.loads(line)["event"] for line in lines] == [text] * 3
    assert text in json.loads(lines[2])["exception"]
    assert character not in "".join(lines)


def test_other_scripts_and_emojis_stay_readable(line_of):
    text = "jöb שלום 作业 👨\u200d👩\u200d👧"
    assert text in line_of(logging.makeLogRecord({"msg": text}))


def test_the_address_of_an_anonymous_request_cannot_forge_a_line(db, line_of, caplog):
    caplog.set_level(logging.INFO, "atributo.requests")
    Client().get("/a%C2%9B31m%E2%80%AE%E2%80%A8{}", headers={"X-Request-Id": "\u009b"})
    (record,) = [each for each in caplog.records if each.name == "atributo.requests"]
    line = line_of(record)
    assert line.isascii() and len(line.splitlines()) == 1
    assert json.loads(line)["path"] == "/a\u009b31m\u202e\u2028{}"
