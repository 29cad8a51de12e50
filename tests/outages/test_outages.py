"""An outage has a beginning and an end in the log, whoever notices it and however often."""

from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from atributo_site.core import loops
from atributo_site.core.availability import outages as module
from atributo_site.core.availability.outages import Outages
from atributo_site.core.errors import ConnectionLost, DatabaseRefused
from atributo_site.core.loops import Loop, Step

AWAY = ConnectionLost("the database cannot be reached:\nno route", in_doubt=False)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
REFUSED = DatabaseRefused("the database refuses this site", in_doubt=False)


class Seconds:
    value = 0.0

    def __call__(self):
        return self.value


@pytest.fixture(autouse=True)
def no_connections(monkeypatch):
    """Let loops look at no connection that an earlier test has left open."""
    monkeypatch.setattr(loops, "close_old_connections", lambda: None)


@pytest.fixture
def logged(monkeypatch):
    """Return the lines of an outage log that begins empty."""
    monkeypatch.setattr(module, "log", module.structlog.get_logger("atributo.availability"))
    with capture_logs() as lines:
        yield lines


def events(lines):
    return [line["event"] for line in lines]


def test_a_hundred_failures_are_one_line(logged):
    seconds = Seconds()
    outages = Outages(seconds)
    assert all(outages.failed("a step", AWAY) for _ in range(100))
    seconds.value = 60.0
    outages.succeeded("a step")
    assert events(logged) == ["database_away", "database_back"]
    assert logged[0]["error"] == "the database cannot be reached:"
    assert (logged[1]["after_seconds"], logged[1]["failures"]) == (60.0, 100)


def test_an_outage_is_over_when_all_that_failed_have_succeeded(logged):
    outages = Outages()
    outages.failed("writer", AWAY)
    outages.failed("other writer", AWAY)
    outages.succeeded("reader")
    outages.succeeded("writer")
    assert events(logged) == ["database_away"]
    outages.succeeded("other writer")
    assert events(logged) == ["database_away", "database_back"]


def test_another_reason_is_news(logged):
    outages = Outages()
    for error in [AWAY, AWAY, REFUSED, REFUSED, AWAY]:
        outages.failed("a step", error)
    assert events(logged) == ["database_away", "database_refused", "database_away"]


def test_a_mistake_is_no_outage(logged):
    assert not Outages().failed("a step", ZeroDivisionError())
    assert logged == []


def test_a_loop_waits_as_a_whole_while_nothing_tells_the_time():
    seconds, away, runs = Seconds(), [True] * 4, []

    def now():
        if away and away.pop():
            raise AWAY
        return NOW

    steps = [Step(name, lambda now, n=name: runs.append(n) or 9.0) for name in "ab"]
    loop = Loop(steps, now=now, monotonic=seconds)
    assert [loop.run_due() for _ in range(4)] == [1.0, 2.0, 4.0, 5.0]
    assert runs == []
    loop.run_due()
    assert runs == ["a", "b"]


def test_a_loop_logs_a_mistake_once_and_its_end(monkeypatch):
    seconds, errors = Seconds(), [ValueError("x"), ValueError("x"), KeyError("y"), None]

    def fragile(now):
        seconds.value += 100
        error = errors.pop(0)
        if error is not None:
            raise error
        return 1.0

    monkeypatch.setattr(loops, "log", loops.structlog.get_logger("a test"))
    loop = Loop([Step("fragile", fragile)], now=lambda: NOW, monotonic=seconds)
    with capture_logs() as lines:
        for _ in range(4):
            loop.run_due()
            seconds.value += 100
    assert events(lines) == ["step_failed", "step_failed", "step_recovered"]
