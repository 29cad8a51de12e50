"""Gather what every room says is wrong, and add what is wrong with the site itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

from allocation import incidents as allocation
from allocation.transactions.curator import incidents as transactions
from atributo_site.core.incidents.symptom import RANKS, Severity, Symptom
from atributo_site.core.models import Event
from atributo_site.core.text import pluralize
from atributo_site.status import machine
from atributo_site.status.machine import of_site
from atributo_site.web.format import roughly
from pools import incidents as pools
from queues.logic.queue_choice import QueueChoice, from_facts
from queues.queries import incidents as queues

MOST_AHEAD_SECONDS = 1000.0  # so far one batch of the largest size may move the mark of job ids
OFTEN = 3  # restarts of one process that are worth a look
RECENT = timedelta(hours=1)
LOG_INS_WITHIN = timedelta(minutes=10)
MANY_LOG_INS = 10  # failed ones within that time


def symptoms(snapshot: dict[str, Any]) -> list[Symptom]:
    """Return the worst first."""
    has_curator = bool(snapshot["curator"]["active"])
    every = [
        *_rules(snapshot["integrity"]["broken"]),
        *_redis(snapshot["redis"]),
        *machine.symptoms(snapshot),
        *_ids_ahead(snapshot.get("allocation", {}).get("id_numbers_ahead_seconds", 0.0)),
        *([] if has_curator else [NO_CURATOR]),
        *_workers(snapshot["processes"]),
        *queues.symptoms(snapshot.get("queues", {}), snapshot["now"], _choices(snapshot)),
        *transactions.symptoms(snapshot.get("transactions", {}), has_curator=has_curator),
        *allocation.symptoms(snapshot.get("allocation", {})),
        *pools.symptoms(snapshot.get("pools", {})),
        *_restarts(snapshot["restarts"], snapshot["now"]),
        *_log_ins(snapshot["now"]),
    ]
    return sorted(every, key=lambda each: RANKS[each.severity])


def _choices(snapshot: dict[str, Any]) -> list[QueueChoice]:
    """Return which queues each worker serves that runs now."""
    processes = snapshot["processes"]
    running = [p for p in processes if (p["kind"], p["state"]) == ("worker", "running")]
    return [from_facts(each["facts"]) for each in running]


def _rules(broken: list[dict[str, Any]]) -> list[Symptom]:
    return [
        Symptom(
            kind="rule.broken",
            subject=f"rule:{rule['name']}",
            severity=Severity.ERROR,
            title=f"Broken: {rule['sentence']}",
            detail=", ".join(rule["rows"][:3]),
            command=f"manage.py verify --rule '{rule['name']}'",
            affected=pluralize(len(rule["rows"]), "row"),
            since=rule["since"],
        )
        for rule in broken
    ]


def _redis(health: dict[str, Any]) -> list[Symptom]:
    if health["state"] == "ok":
        return []
    return [of_site("redis", "degraded", "Redis is degraded", health["detail"])]


def _ids_ahead(seconds: float) -> list[Symptom]:
    if seconds <= MOST_AHEAD_SECONDS:
        return []
    title = f"Job ids are {roughly(seconds)} ahead of the clock"
    detail = "A clock went back, or batches were huge. Ids stay unique, but their times are off."
    return [of_site("job_ids", "ahead", title, detail)]


NO_CURATOR = of_site(
    "curator",
    "missing",
    "No curator is active",
    "Nothing is repaired after a crash until one runs.",
    "manage.py run_curator",
    Severity.ERROR,
)
NO_WORKER = of_site(
    "workers",
    "missing",
    "No worker is running",
    "Jobs wait until a worker runs.",
    "manage.py worker",
    Severity.ERROR,
)


def _workers(processes: list[dict[str, Any]]) -> list[Symptom]:
    workers = [each for each in processes if each["kind"] == "worker"]
    silent = [
        Symptom(
            kind="worker.silent",
            subject=f"process:worker/{each['name']}",
            severity=Severity.WARNING,
            title=f"Worker {each['name']} is silent",
            detail="Its lease has expired.",
            command="manage.py worker",
        )
        for each in workers
        if each["state"] == "silent"
    ]
    runs = any(each["state"] == "running" for each in workers)
    return silent if runs else [*silent, NO_WORKER]


def _restarts(children: list[dict[str, Any]], now: datetime) -> list[Symptom]:
    return [
        Symptom(
            kind="process.restarted",
            subject=f"process:{child['name']}",
            severity=Severity.WARNING,
            title=f"{child['name']} was restarted {pluralize(child['restarts'], 'time')}",
            detail=f"Last exit: {child['last_exit']}.",
            command=f"less var/log/{child['name']}.log",
        )
        for child in children
        if child["restarts"] >= OFTEN and _is_recent(child.get("restarted_at"), now)
    ]


def _is_recent(moment: str | None, now: datetime) -> bool:
    """Take a supervisor that does not say when as one that says now."""
    return moment is None or datetime.fromisoformat(moment).astimezone(UTC) >= now - RECENT


def _log_ins(now: datetime) -> list[Symptom]:
    """Report many failed log-ins: somebody guesses, or a program has an old password."""
    failed = Event.objects.filter(kind="user.login_failed").newest_first()
    newest = list(failed.values_list("subject", "at")[:MANY_LOG_INS])
    if len(newest) < MANY_LOG_INS or newest[-1][1] < now - LOG_INS_WITHIN:
        return []
    names = sorted({subject.partition(":")[2] for subject, _ in newest})
    title = f"At least {MANY_LOG_INS} logins failed in the last 10 minutes"
    detail = f"For {', '.join(names[:3])}. Somebody is guessing, or a program uses an old password."
    return [of_site("log_ins", "failing", title, detail, command="")]
