"""The way of a job through its states, with the times between them."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from atributo_site.console.jobs.detail import path

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def ago(seconds):
    return NOW - timedelta(seconds=seconds)


def job(status, **more):
    return SimpleNamespace(status=status, created_at=ago(100), due_at=ago(100), **more)


def attempt(number, outcome, begun, ended):
    times = {"started_at": ago(begun), "ended_at": None if ended is None else ago(ended)}
    return {"attempt": number, "outcome": outcome, **times}


def told(steps):
    return [(step.word, step.gap, step.detail) for step in steps]


def test_it_tells_waits_and_runs_between_the_states():
    attempts = [attempt(1, "failed", 90, 88), attempt(2, "running", 30, None)]
    assert told(path(job("progress"), attempts, "running", NOW)) == [
        ("pushed", "", "1m40s ago"),
        ("failed", "10s", "attempt 1 · 2s"),
        ("running", "58s", "attempt 2 · 30s"),
    ]


def test_what_waits_says_when_it_comes():
    waiting = job("pending")
    waiting.due_at = NOW + timedelta(seconds=20)
    steps = path(waiting, [attempt(1, "failed", 90, 88)], "retrying", NOW)
    assert told(steps)[-1] == ("retrying", "", "in 20s")


def test_an_abort_before_any_attempt_is_its_end():
    aborted = job("failed", aborted_at=ago(40))
    assert [step.word for step in path(aborted, [], "aborted", NOW)] == ["pushed", "aborted"]


def test_an_aborted_attempt_is_told_once():
    aborted = job("failed", aborted_at=ago(40))
    steps = path(aborted, [attempt(1, "aborted", 60, 40)], "aborted", NOW)
    assert [step.word for step in steps] == ["pushed", "aborted"]


def test_many_attempts_are_cut_and_said_so():
    attempts = [attempt(n, "failed", 90 - n, 89 - n) for n in range(3, 20)]
    steps = path(job("failed", aborted_at=None), attempts, "failed", NOW)
    assert [step.word for step in steps] == ["pushed", "…", *["failed"] * 4]
    assert steps[1].detail == "15 attempts before"
    assert steps[2].gap == ""
