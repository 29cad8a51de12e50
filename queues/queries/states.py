"""Select jobs by the name of their state, or by many keys at once."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import BooleanField, Func

from queues.links.linking import FAR
from queues.logic.lifecycle import Status
from queues.sql.states import INDEXED, NARROW, PAUSED_KEYS

PENDING = ("waiting", "delayed", "paused", "blocked")
STATES = (*PENDING, "running", "complete", "failed", "aborted", "expired")
WORDS = (*STATES, "retrying")  # one that failed is delayed, too, until its next attempt
BEGUN_AS: dict[str, dict[str, Any]] = {
    "running": {"status": Status.PROGRESS},
    "complete": {"status": Status.COMPLETE},
    "failed": {"status": Status.FAILED, "aborted_at": None, "expired_at": None},
    "aborted": {"aborted_at__isnull": False},
    "expired": {"expired_at__isnull": False},
}


def job_state(job: Any, now: datetime) -> str:
    """Return the word that every list has for a job; a pending one waits in one of five ways."""
    if job.status == Status.PENDING:
        return _pending(job, now)
    if job.status == Status.PROGRESS:
        return "running"
    if job.expired_at is not None:
        return "expired"
    return "aborted" if job.aborted_at is not None else str(job.status)


def _pending(job: Any, now: datetime) -> str:
    if job.paused:
        return "paused"
    if job.is_blocked:
        return "blocked"
    if job.due_at <= now:
        return "waiting"
    return "retrying" if job.run_failures else "delayed"


def in_state(jobs: Any, state: str, now: datetime, conditions: Mapping[str, str] = INDEXED) -> Any:
    """Select jobs that wait in one of four ways, run, or ended in one of four ways."""
    if state not in STATES:
        return jobs
    jobs = jobs.extra(where=[conditions[state]])  # nosec B610 # a constant condition
    if state == "paused":
        return _paused(jobs)
    if state not in ("waiting", "delayed"):
        return jobs
    if conditions is NARROW:
        jobs = jobs.filter(status=Status.PENDING)
    if state == "delayed":  # those that wait for others are due in another age
        return jobs.filter(due_at__gt=now, due_at__lt=FAR)
    return jobs.filter(due_at__lte=now)


def _paused(jobs: Any) -> Any:
    """Find them by their ranks, however many jobs wait."""
    among = "= ANY(ARRAY({}))" if connection.vendor == "postgresql" else "IN ({})"
    return jobs.extra(where=[f"queues_queuedjob.id {among.format(PAUSED_KEYS)}"])  # nosec B610 # a constant condition


def with_ids(jobs: Any, keys: Any) -> Any:
    """Select the jobs whose keys another query gives."""
    if connection.vendor == "postgresql":
        from django.contrib.postgres.expressions import ArraySubquery  # it loads psycopg

        return jobs.filter(_OneOf("pk", ArraySubquery(keys)))
    return jobs.filter(pk__in=keys)


class _OneOf(Func):
    """An array of keys: PostgreSQL looks each up, and does not walk along the table for a join."""

    template = "(%(expressions)s))"
    arg_joiner = " = ANY("
    output_field = BooleanField()


def with_keys(jobs: Any, keys: list[int]) -> Any:
    """Select jobs by any number of keys, given as one parameter."""
    if connection.vendor == "postgresql":
        return jobs.extra(where=["queues_queuedjob.id = ANY(%s)"], params=[keys])
    among = "queues_queuedjob.id IN (SELECT value FROM json_each(%s))"
    return jobs.extra(where=[among], params=[json.dumps(keys)])  # nosec B610 # a constant condition
