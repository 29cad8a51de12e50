"""Writers of a SQLite file take turns in the order in which they came, and wait no longer than
the setting says."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import OperationalError, connection, connections
from django.db.transaction import atomic

from atributo_site.core.availability.patience import waiting_until
from atributo_site.core.events import record
from atributo_site.core.models import Event
from atributo_site.core.sqlite3 import base
from atributo_site.core.sqlite3.base import OVERTAKING_SECONDS, STRAY_SECONDS, in_turn
from atributo_site.core.sqlite3.line import Line

ROOT = Path(__file__).resolve().parents[2]
JOIN = """
import os, sys
from atributo_site.core.sqlite3.line import Line
line = Line(sys.argv[1])
line.join()
line.close_gate()
print("joined", flush=True)
sys.stdin.read()
"""


class Locked(Exception):
    pass


class Clock:
    """Time passes only in sleep."""

    def __init__(self):
        self.now = 100.0
        self.slept = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "db.sqlite3")


def wait(line, attempt, clock, *, end):
    known = lambda error: isinstance(error, Locked)  # noqa: E731
    return in_turn(line, attempt, known, end, sleep=clock.sleep, monotonic=clock.monotonic)


def refuse():
    raise Locked


def test_who_came_first_is_first(path):
    first, second, third = (Line(path) for _ in range(3))
    for line in (first, second, third):
        line.join()
    assert [line.before() for line in (first, second, third)] == [0, 1, 2]
    first.leave()
    assert (second.before(), third.before() > 0) == (0, True)


def test_a_wait_ends_when_it_has_to_and_not_before(path):
    clock = Clock()
    with pytest.raises(Locked):
        wait(Line(path), refuse, clock, end=103.5)
    assert clock.now == pytest.approx(103.5)


def test_who_waits_for_a_moment_closes_the_gate_and_opens_it_with_its_turn(path):
    clock, line, newcomer, seen = Clock(), Line(path), Line(path), []

    def attempt():
        seen.append(newcomer.is_gate_closed())
        if not seen[-1]:
            raise Locked
        return clock.now

    assert wait(line, attempt, clock, end=200.0) >= 100.0 + OVERTAKING_SECONDS
    assert not newcomer.is_gate_closed()


def test_only_the_first_asks_sqlite(path):
    clock, first, second, asked = Clock(), Line(path), Line(path), []
    first.join()

    def attempt():
        asked.append(clock.now)
        raise Locked

    with pytest.raises(Locked):
        wait(second, attempt, clock, end=100.0 + STRAY_SECONDS * 0.9)
    assert len(asked) == 1  # at the end
    assert len(clock.slept) > 1


def test_a_first_one_that_stands_still_does_not_stop_the_others(path):
    clock, first, second = Clock(), Line(path), Line(path)
    first.join()
    wait(second, lambda: None, clock, end=700.0)
    assert clock.now == pytest.approx(100.0 + STRAY_SECONDS, abs=STRAY_SECONDS)


def test_another_error_ends_the_wait(path):
    with pytest.raises(ZeroDivisionError):
        wait(Line(path), lambda: 1 / 0, Clock(), end=200.0)
    later = Line(path)
    later.join()
    assert later.before() == 0


def test_a_killed_process_leaves_the_line_and_opens_the_gate(path):
    command = [sys.executable, "-c", JOIN, path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:
        process.stdout.readline()
        line = Line(path)
        line.join()
        assert (line.before(), line.is_gate_closed()) == (1, True)
        process.kill()
        process.wait()
        assert (line.before(), line.is_gate_closed()) == (0, False)


def test_a_forked_child_has_no_place_in_the_line(path):
    parent, other = Line(path), Line(path)
    parent.join()
    hears, says = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(says, b"here")
        signal.pause()
    os.read(hears, 4)
    parent.close()
    other.join()
    before = other.before()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert before == 0


def test_without_a_file_there_is_no_order_and_no_harm():
    line = Line("/nowhere/at/all.sqlite3")
    line.join()
    assert (line.before(), line.is_gate_closed()) == (0, False)
    line.leave()


@pytest.mark.only_on("sqlite")
@pytest.mark.django_db(transaction=True)
def test_sqlite_itself_never_waits():
    """Its time would be added to ours, and the setting would not be what happens."""
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA busy_timeout").fetchone() == (0,)


@pytest.fixture
def joined(monkeypatch):
    """The threads that stand in line, in the order in which they came."""
    came, join = [], Line.join

    def look(line):
        join(line)
        came.append(line)

    monkeypatch.setattr(Line, "join", look)
    monkeypatch.setattr(base, "STRAY_SECONDS", 600.0)
    return came


@pytest.mark.only_on("sqlite")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("surround", [atomic, nullcontext], ids=["transaction", "statement"])
def test_writers_write_in_the_order_in_which_they_came(surround, settings, joined, wait_until):
    settings.ATRIBUTO = replace(settings.ATRIBUTO, busy_timeout_ms=600_000)

    def write(number):
        with surround():
            record("test.turn", f"test:{number}")
        connections["default"].close()

    with ThreadPoolExecutor(4) as pool:
        with atomic():
            written = []
            for number in range(4):
                written.append(pool.submit(write, number))
                wait_until(lambda length=number + 1: len(joined) == length)
        for each in written:
            each.result()
    subjects = Event.objects.filter(kind="test.turn").order_by("pk")
    assert [event.subject for event in subjects] == [f"test:{number}" for number in range(4)]


@pytest.mark.only_on("sqlite")
@pytest.mark.django_db(transaction=True)
def test_a_call_has_one_deadline_for_all_its_waits():
    held, done = threading.Event(), threading.Event()

    def hold():
        with atomic():
            held.set()
            done.wait(60)
        connections["default"].close()

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        held.wait(60)
        outer, inner = waiting_until(0.0), waiting_until(1e9)
        with outer, inner, pytest.raises(OperationalError, match="locked"):
            record("test.turn", "test:late")
        done.set()
        holding.result()
    assert not Event.objects.filter(kind="test.turn").exists()


@pytest.mark.only_on("sqlite")
@pytest.mark.django_db(transaction=True)
def test_many_rows_outside_of_a_transaction_are_written_all_or_none():
    rows = [("one",), (None,)]
    add = "INSERT INTO django_session VALUES (%s, 'data', '2030-01-01 00:00:00')"
    with connection.cursor() as cursor, pytest.raises(Exception, match="NOT NULL"):
        cursor.executemany(add, rows)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_session")
        assert cursor.fetchone() == (0,)
