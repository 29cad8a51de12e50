"""What a script's process says to its worker is checked, counted and put into lines."""

import json
import os
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queues.children import messages as said
from queues.children.protocol import ChildGone
from queues.execution.execution import PROGRESS_SECONDS
from queues.execution.output import Lines
from queues.worker.notes_reader import WorkerNotes
from tests.queues.worker.child_calls import messages, work


def does_nothing(file):
    return os.getpid()


def child():
    """The object that serves this process."""
    return sys.stdout._lines._line.__self__


def progresses_all_the_time(file):
    emit = child()._running.emit  # as context.progress does
    for number in range(10_001):
        emit({"t": "progress", "percent": number / 100, "note": ""})


def says(number, text):
    """A script that writes to its worker by itself."""

    def script(file):
        wire = child().wire
        wire.send_text(text)
        time.sleep(600)

    script.__name__ = script.__qualname__ = f"says_{number}"
    return script


def test_progress_is_told_as_often_as_anybody_reads_it_and_at_the_end(workhorse):
    workhorse.give([work(progresses_all_the_time)], 0.0)
    *told, done = messages(workhorse)
    assert told[-1]["percent"] == 100
    assert len(told) <= done["seconds"] / PROGRESS_SECONDS + 2


RIGHT = {"t": "done", "ok": True, "result": 1, "seconds": 0, "spent": "", "batch": 1, "job": 0}
WRONG = [
    "no JSON",
    "[1, 2]",
    '"a text"',
    "{}",
    '{"t": "done"}',
    '{"t": ["done"]}',
    '{"t": "log", "text": 7, "level": "info", "at": 1, "batch": 1, "job": 0}',
    "[" * 100_000,
    json.dumps({**RIGHT, "begun": "soon"}),
    json.dumps({**RIGHT, "begun": 1e300}),
    json.dumps({**RIGHT, "begun": float("nan")}),
    json.dumps({**RIGHT, "begun": 0, "job": 5}),
    json.dumps({**RIGHT, "begun": 0, "batch": 9}),
    json.dumps({**RIGHT, "begun": 0, "result": "a\x00b"}),
    json.dumps({**RIGHT, "begun": 0, "result": "\ud800"}),
    json.dumps({**RIGHT, "begun": 0, "transaction": ["1", 2]}),
    json.dumps({**RIGHT, "begun": 0, "result": [[]]}).replace("[[]]", "[" * 200 + "]" * 200),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_nonsense_fails_the_run_and_replaces_the_process(workhorse, run, number):
    workhorse.give([{**work(does_nothing), "script": f"{__name__}:says_{number}"}], 0.0)
    with pytest.raises(ChildGone):
        while workhorse.receive(30.0) is not None:
            pass
    assert workhorse.reap().startswith("ended because it sent an invalid message: ")
    (done,) = run(does_nothing)
    assert done["ok"]


globals().update({f"says_{number}": says(number, text) for number, text in enumerate(WRONG)})


def test_a_line_without_an_end_is_nonsense(workhorse, monkeypatch):
    monkeypatch.setattr("queues.children.child_process.LONGEST_LINE_BYTES", 1 << 16)
    workhorse.give([{**work(does_nothing), "script": f"{__name__}:never_ends_its_line"}], 0.0)
    with pytest.raises(ChildGone):
        workhorse.receive(30.0)
    assert "a line of more than 65536 bytes" in workhorse.reap()


def never_ends_its_line(file):
    child().wire.send_text("x" * (1 << 20))
    time.sleep(600)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
)
NAMES = st.sampled_from(["t", "ok", "result", "begun", "seconds", "batch", "job", "error", "spent"])


@given(st.dictionaries(NAMES, JSON | st.sampled_from(["done", "log", "stopped", "hello"])))
def test_whatever_is_said_is_understood_or_nonsense(message):
    try:
        heard = said.understood(json.dumps(message).encode())
    except said.Nonsense:
        return
    assert heard["t"] in {"done", "log", "stopped", "hello", "progress", "transaction"}


def test_nonsense_is_not_believed_from_notes_either():
    noted = WorkerNotes()
    noted.add({"ended": [7, 1], "said": [{"t": "done"}]})
    assert noted.messages == {}


class Counted(str):
    """A text that counts what is copied when it is added to another one."""

    copied = 0

    def __radd__(self, other):
        Counted.copied += len(other) + len(self)
        return str.__add__(other, self)


def test_printing_without_an_end_of_line_copies_nothing_twice():
    Counted.copied, told = 0, []
    lines = Lines(lambda line, left_out: told.append((line, left_out)))
    for _ in range(80_000):
        lines.write(Counted("."))
    assert lines._size < 80_000  # no more than is ever shown of a line
    lines.end()
    assert Counted.copied <= 80_000
    [(line, left_out)] = told
    assert (set(line), len(line) + left_out) == ({"."}, 80_000)


def test_lines_are_told_as_they_were_printed():
    told = []
    lines = Lines(lambda line, left_out: told.append(line))
    for text in ("a", "b\nc\n", "\n", "d", "", "e"):
        lines.write(text)
    lines.end()
    assert told == ["ab", "c", "", "de"]
