"""Whatever a script writes, and however it ends, is in the log of its run."""

import json
import os
import subprocess
import sys

import pytest

from queues.children.child_process import Workhorse
from queues.children.protocol import ChildGone
from queues.execution.execution import CUT_HERE, MOST_LINES
from queues.execution.output import LONGEST_LINE, Lines
from tests.queues.worker.child_calls import messages, work

LARGE = 20_000_000


def writes_to_descriptors(file):
    os.write(1, b"one\n")
    os.system("echo two")
    subprocess.run(["sh", "-c", "echo three >&2"], check=True)
    subprocess.run(["echo", "four"], check=True, stdout=sys.stdout)
    os.write(2, b"five \xff\x00, without an end")


def writes_to_standard_error(file):
    print("printed", file=sys.stderr)
    sys.stdout.buffer.write(b"bytes\n")


def exits_with_3(file):
    sys.exit(3)


def exits_with_a_sentence(file):
    raise SystemExit("the disk is full")


def exits_with_0(file):
    sys.exit(0)


def is_interrupted(file):
    raise KeyboardInterrupt


def prints_too_much(file):
    for number in range(MOST_LINES + 500):
        print(number)


def prints_a_long_line(file):
    print("x" * 100_000)


def floods(file):
    lines = b"x" * 99 + b"\n"
    for _ in range(LARGE // 2 // 100_000):
        os.write(2, lines * 1000)
    for _ in range(LARGE // 2 // 100_000):
        os.write(2, b"y" * 100_000)


def tells_a_secret(order):
    os.write(1, f"it is {order['password']}\n".encode())


def crashes(order):
    os.write(2, f"the last words, {order['password']}\n".encode())
    os.abort()


def leads_its_output_elsewhere(file):
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    os.dup2(descriptor, 1)
    os.close(descriptor)


def with_secret(function):
    return {**work(function), "data": json.dumps({"order": {"password": "hunter22"}})}


def texts(workhorse, job):
    """The log lines of a job and the message about its end."""
    workhorse.give([job], 0.0)
    *said, done = messages(workhorse)
    return [each["text"] for each in said if each["t"] == "log"], done


def test_output_of_descriptors_and_subprocesses_is_logged(workhorse):
    lines, done = texts(workhorse, work(writes_to_descriptors))
    assert done["ok"], done
    assert lines == ["one", "two", "three", "four", "five \ufffd\ufffd, without an end"]


def test_a_started_interpreter_logs_the_same(transactional_db, monkeypatch):
    monkeypatch.setenv("ATRIBUTO_TASK_MODULES", __name__)
    horse = Workhorse(512, fork=False)
    try:
        assert texts(horse, work(writes_to_descriptors))[0][:3] == ["one", "two", "three"]
    finally:
        horse.close()


def test_standard_error_and_bytes_are_logged(workhorse):
    lines, done = texts(workhorse, work(writes_to_standard_error))
    assert done["ok"], done
    assert set(lines) == {"printed", "bytes"}


def test_jobs_of_a_batch_keep_their_output_apart(workhorse):
    workhorse.give([work(writes_to_descriptors), work(writes_to_standard_error)], 1e9)
    said = [*messages(workhorse), *messages(workhorse)]
    assert [each["job"] for each in said if each.get("text") in {"one", "two", "bytes"}] == [
        0,
        0,
        1,
    ]


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (exits_with_3, "SystemExit: 3"),
        (exits_with_a_sentence, "SystemExit: the disk is full"),
        (is_interrupted, "KeyboardInterrupt"),
    ],
)
def test_an_exit_says_its_code_and_where_it_was(run, script, error):
    (done,) = run(script)
    assert done["error"] == error
    assert f"in {script.__name__}" in done["traceback"]


def test_an_exit_with_0_is_a_good_end(run):
    (done,) = run(exits_with_0)
    assert (done["ok"], done["result"]) == (True, None)


def test_a_log_that_was_cut_says_so_and_how_much(workhorse):
    lines, done = texts(workhorse, work(prints_too_much))
    assert done["ok"]
    assert lines[MOST_LINES - 1 :] == [
        str(MOST_LINES - 1),
        CUT_HERE,
        "500 more lines with 2,000 characters were cut",
    ]


def test_a_line_that_was_cut_says_how_much(workhorse):
    (line,), _ = texts(workhorse, work(prints_a_long_line))
    assert line.endswith(f"… ({100_000 - LONGEST_LINE:,} more characters)")


def test_a_flood_on_standard_error_does_no_harm(workhorse, run):
    lines, done = texts(workhorse, work(floods))
    assert done["ok"], done
    assert len(lines) == MOST_LINES + 2
    more = LARGE // 2 // 100 - MOST_LINES
    cut = f"{more + 1:,} more lines with {more * 99 + LARGE // 2:,} characters were cut"
    assert lines[-1] == cut  # the last line has no end


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("size", range(1, 9))
def test_cut_lines_are_counted_wherever_their_pieces_end(size, end):
    text, kept, cut = f"one\ntwo\nthree\nfour\nfive{end}", [], [(0, 0)]
    skip = lambda *more: cut.append(more)  # noqa: E731
    line = lambda text, _: kept.append(text) if len(kept) < 2 else skip(1, len(text))  # noqa: E731
    lines = Lines(line, skip, lambda: len(cut) > 1)
    for begin in range(0, len(text), size):
        lines.write(text[begin : begin + size])
    lines.end()
    assert (kept, [sum(each) for each in zip(*cut, strict=True)]) == (["one", "two"], [3, 13])


def test_output_shows_no_secret(workhorse):
    lines, done = texts(workhorse, with_secret(tells_a_secret))
    assert done["ok"], done
    assert lines == ["it is •••"]


def test_what_a_process_wrote_before_it_crashed_is_kept(workhorse):
    workhorse.give([with_secret(crashes)], 0.0)
    heard = []
    with pytest.raises(ChildGone):
        while True:
            heard.append(workhorse.receive(30.0))
    assert workhorse.reap() == "killed (signal 6, SIGABRT)"
    lines = [each["text"] for each in (*heard, *workhorse.last_lines()) if each]
    assert lines[0] == "the last words, •••"
    assert "Fatal Python error: Aborted" in lines
    assert any("in crashes" in line for line in lines)


def test_output_that_leads_elsewhere_costs_a_new_process(workhorse, run, tmp_path):
    workhorse.give([work(leads_its_output_elsewhere, tmp_path / "out")], 0.0)
    *_, done = messages(workhorse)
    assert done["spent"] == "standard descriptors"
    assert texts(workhorse, work(writes_to_descriptors))[0][0] == "one"
