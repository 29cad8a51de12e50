"""Describe a job for a person in a terminal, without what is empty."""

import json
from datetime import datetime
from typing import Any

Shown = dict[str, Any]
MOST_ATTEMPTS = 10
ATTEMPT_COLUMNS = ["attempt", "outcome", "started", "seconds", "worker", "error"]


def fact_rows(job: Shown) -> list[list[str]]:
    script = job["script"]
    facts = {
        "job": job["id"],
        "script": f"{script['mount']}/{script['name']}",
        "queue": job["queue"],
        "state": job["state"],
        "waits for": job["waits_for"],
        "run": job["run"],
        "paused": f"by {job['paused_by']}" if job["paused"] else "",
        "because": job["pause_reason"],
        "key": _key(job),
        "instance": f"{job['instance']}, epoch {job['instance_epoch']}" if job["instance"] else "",
        "unique key": job["unique_key"],
        "pushed by": job["pushed_by"],
        "created": _moment(job["created_at"]),
        "due": _moment(job["delay_until"]),
        "started": _moment(job["started_at"]),
        "ended": _moment(job["ended_at"]),
        "data": _json(job["data"]),
        "result": _json(job["result"]),
        "error": job["error"],
    }
    return [[name, fact] for name, fact in facts.items() if fact]


def attempt_rows(job: Shown) -> list[list[str]]:
    """Return the last few attempts; a job that repeats has thousands."""
    return [
        [
            str(each["attempt"]),
            each["outcome"],
            _moment(each["started_at"]),
            "" if each["seconds"] is None else f"{each['seconds']:.3f}",
            each["worker"],
            each["error"],
        ]
        for each in job["attempts"][-MOST_ATTEMPTS:]
    ]


def last_words(job: Shown) -> list[str]:
    """Return what the last attempt wrote, and where it failed."""
    if not job["attempts"]:
        return []
    last = job["attempts"][-1]
    lines = [f"{_moment(line['at'])} {line['level']} {line['text']}" for line in last["log"]]
    return [*lines, *last["traceback"].splitlines()]


def _key(job: Shown) -> str:
    key = job["sticky_key"] or ""
    return f"{key}, concurrent" if key and job["concurrent"] else key


def _moment(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _json(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)
