"""Log lines are one line of JSON each, and nothing in them is obeyed by a terminal."""

import json
import logging

import pytest
import structlog
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


@pytest.fixture
def hosted_log():
    """A logger as a project gets it, which has not configured structlog."""
    kept = structlog.get_config()
    structlog.reset_defaults()
    logs.pass_on()
    yield structlog.get_logger("hosted").bind()
    structlog.configure(**kept)


def test_the_line_of_a_project_tells_the_facts(hosted_log, caplog):
    hosted_log.warning("redis_away", error="refused\n\x1b[31m", token="s3cret")
    (record,) = caplog.records
    assert record.getMessage().startswith("redis_away error=refused\\n")
    assert len(record.getMessage().splitlines()) == 1 and "s3cret" not in record.getMessage()
    assert record.error == "refused\n\x1b[31m"


@pytest.mark.parametrize("name", ["message", "module", "name", "args", "process", "asctime"])
def test_a_fact_may_have_the_name_of_one_of_the_librarys_own(hosted_log, caplog, name):
    hosted_log.warning("tasks_not_loaded", **{name: "shop.tasks"})
    (record,) = caplog.records
    assert record.getMessage() == f"tasks_not_loaded {name}=shop.tasks"
    assert getattr(record, f"{name}_") == "shop.tasks"


def test_a_traceback_is_handed_on(hosted_log, caplog):
    try:
        raise ValueError("no")
    except ValueError:
        hosted_log.exception("step_failed", step="drains")
    assert caplog.records[0].exc_info[0] is ValueError
    assert caplog.records[0].getMessage() == "step_failed step=drains"
