"""What is wrong with queues and jobs, each with the true reason: late, paused, failing, lost."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from shlex import quote
from typing import Any

from django.db.models.expressions import RawSQL

from atributo_site.core.incidents.cure import Cure
from atributo_site.core.incidents.symptom import Severity, Symptom
from atributo_site.core.models import Event
from atributo_site.core.text import pluralize, written
from queues.logic.lateness import Late, needs_a_look, target_age, why_late
from queues.logic.queue_choice import QueueChoice
from queues.models import Queue, Station
from queues.models.queue import MOST_WORKERS
from queues.queries import schedule_incidents
from queues.queries.backlog import with_depth
from queues.runs.reservation import aware
from queues.sql import backlog
from queues.sql.reserve import ALL_RANKS, ANYBODYS_RANKS

HOUR = timedelta(hours=1)
UNSERVED_SECONDS = 5.0  # a worker that restarts is back by then
MOST_LOST = 1000
MOST_GROUPS = 5
RETRIED = "A page first shows how many there are. Then each runs once more with its data."


def symptoms(
    seen: dict[str, Any], now: datetime, workers: Sequence[QueueChoice] = ()
) -> list[Symptom]:
    """Take what `snapshot` returned and what each worker serves; ask why late queues are late."""
    queues = [*seen.get("queues", []), *seen.get("late_not_shown", [])]
    return [
        *_unserved(queues, workers, now),
        *_late([each for each in queues if not _is_unserved(each, workers)], workers, now),
        *_paused(queues, now, is_cut=seen.get("more", False)),
        *_failing(seen.get("failing", [])),
        *_lost(now),
        *schedule_incidents.symptoms(now),
    ]


def about_queue(
    queue: dict[str, Any], now: datetime, workers: Sequence[QueueChoice]
) -> Symptom | None:
    """Return what is wrong with one queue: it is late, not served or paused while jobs are due."""
    unserved = _unserved([queue], workers, now)
    found = unserved or _late([queue], workers, now) or _paused([queue], now, is_cut=False)
    return found[0] if found else None


def why_waiting(queue: dict[str, Any], workers: Sequence[QueueChoice]) -> str:
    """Say why its oldest due job has not begun, late or not; nothing if none is due."""
    if queue["oldest_seconds"] is None:
        return ""
    if queue["paused"]:
        return f"{_pauser(queue)} No new jobs start."
    name = queue["name"]
    if workers and not queue["oldest_is_sticky"] and not any(w.serves(name) for w in workers):
        return "The workers that run serve other queues."
    instance = _instances([name]).get(name) if queue["oldest_is_sticky"] else None
    served = {instance} if instance and _is_served(instance) else set()
    return _why(queue, instance, served, len(workers)).sentence


def _is_served(instance: str) -> bool:
    return Station.objects.served().filter(pk=instance).exists()


def _is_unserved(queue: dict[str, Any], workers: Sequence[QueueChoice]) -> bool:
    """Return whether its jobs wait, workers are here, and not one of them serves it."""
    if not workers or queue["lateness"] is None or queue["oldest_is_sticky"]:
        return False
    is_old = queue["oldest_seconds"] > UNSERVED_SECONDS
    return is_old and not any(choice.serves(queue["name"]) for choice in workers)


def _unserved(
    queues: list[dict[str, Any]], workers: Sequence[QueueChoice], now: datetime
) -> list[Symptom]:
    served = sorted({_described(choice) for choice in workers})
    few = "; ".join(served[:3]) + ("; ..." if len(served) > 3 else "")
    return [
        Symptom(
            kind="queue.late",
            subject=f"queue:{queue['name']}",
            severity=Severity.WARNING,
            title=f"No worker serves queue {queue['name']}",
            detail=f"{pluralize(queue['waiting'], 'job')} "
            f"{'is' if queue['waiting'] == 1 else 'are'} due, and the workers that run serve other "
            f"queues: {few}.",
            command=_serving(queue["name"]),
            affected=_due(queue),
            since=now - timedelta(seconds=queue["oldest_seconds"]),
        )
        for queue in queues
        if _is_unserved(queue, workers)
    ]


def _serving(name: str) -> str:
    is_weighted = name.rpartition(":")[2].isdigit()
    return f"manage.py worker {quote(f'{name}:1' if is_weighted else name)}"


def _described(choice: QueueChoice) -> str:
    served = " ".join(choice.words) or "all"
    return f"{served} without {' '.join(choice.excluded)}" if choice.excluded else served


def _late(
    queues: list[dict[str, Any]], workers: Sequence[QueueChoice], now: datetime
) -> list[Symptom]:
    late = [
        queue
        for queue in queues
        if needs_a_look(queue["lateness"], queue["target_age_seconds"], queue["running"])
    ]
    if not late:
        return []
    waits_for = _instances([queue["name"] for queue in late if queue["oldest_is_sticky"]])
    stations = Station.objects.served().filter(pk__in=list(waits_for.values()))
    served = set(stations.values_list("pk", flat=True)) if waits_for else set()
    return [
        _late_queue(
            queue,
            _why(queue, waits_for.get(queue["name"]), served, len(workers)),
            now,
            bool(workers),
        )
        for queue in late
    ]


def _why(queue: dict[str, Any], instance: str | None, served: set[str], workers: int) -> Late:
    return why_late(
        running=queue["running"],
        max_workers=queue["max_workers"],
        workers=workers,
        is_sticky=queue["oldest_is_sticky"],
        instance=instance,
        is_served=instance in served,
        waits_for=queue["waits_for"],
    )


def _late_queue(queue: dict[str, Any], late: Late, now: datetime, has_workers: bool) -> Symptom:
    name, target = queue["name"], target_age(queue["target_age_seconds"])
    return Symptom(
        kind="queue.sticky_waiting" if queue["oldest_is_sticky"] else "queue.late",
        subject=f"queue:{name}",
        severity=Severity.WARNING,
        title=_title(queue, has_workers),
        detail=f"{late.sentence} Its target age is {written(target * 1000)}.",
        command=_command(queue, late),
        cure=_cure(queue, late),
        affected=_due(queue),
        since=now - timedelta(seconds=queue["oldest_seconds"]),
    )


def _title(queue: dict[str, Any], has_workers: bool) -> str:
    if queue["oldest_is_sticky"]:  # another worker would not help
        return f"Sticky jobs in queue {queue['name']} are waiting for their instance"
    if queue["running"] or queue["waits_for"] or has_workers:
        return f"Queue {queue['name']} is {queue['lateness']}"
    return f"No worker serves queue {queue['name']}"


def _command(queue: dict[str, Any], late: Late) -> str:
    if late.needs == "instance":
        return f"manage.py worker --instance {quote(late.instance or 'ID')}"
    if late.needs == "limit":
        return f"manage.py queue limits {quote(queue['name'])}"
    if late.needs == "slots":
        most = min(queue["max_workers"] + 1, MOST_WORKERS)
        return f"manage.py queue create {quote(queue['name'])} --max-workers {most}"
    return "manage.py worker"


def _cure(queue: dict[str, Any], late: Late) -> Cure | None:
    """Return what a person can do in the browser; a worker is started in a terminal."""
    name, most = queue["name"], min(queue["max_workers"] + 1, MOST_WORKERS)
    if late.needs == "slots" and most > queue["max_workers"]:
        preview = f"{name} runs up to {most} jobs at once instead of {queue['max_workers']}."
        return Cure("queue.scale", f"Run {most} at once", preview, name, {"max_workers": str(most)})
    if late.needs == "instance" and late.instance:
        preview = f"Start a worker for {late.instance}, or drain it: its keys move to other"
        return Cure(
            "instance.open",
            f"Open {late.instance}",
            f"{preview} instances, and their jobs with them.",
            late.instance,
        )
    if late.needs == "instance":
        preview = "Make an instance available there: the job goes to it."
        return Cure("instances.open", "Open the instances", preview)
    return None


def _due(queue: dict[str, Any]) -> str:
    if queue["waiting"] > backlog.COUNTED:
        return f"more than {backlog.COUNTED:,} due jobs"
    return pluralize(queue["waiting"], "due job")


def _instances(names: list[str]) -> dict[str, str]:
    """Return the instance that the oldest sticky job of each queue waits for, by one query."""
    if not names:
        return {}
    ranks = list(enumerate(ALL_RANKS))[len(ANYBODYS_RANKS) :]
    asked = Queue.objects.existing().filter(name__in=names)
    places = {
        f"at_{number}": RawSQL(backlog.first_routed_to(rank), [])  # nosec B611 # of constants
        for number, rank in ranks
    }
    rows = with_depth(asked).annotate(**places)
    oldest = {queue.name: _routed_to(queue, [number for number, _ in ranks]) for queue in rows}
    return {name: place for name, place in oldest.items() if place}


def _routed_to(queue: Any, numbers: list[int]) -> str | None:
    firsts = [(aware(getattr(queue, f"first_{number}")), number) for number in numbers]
    due = [(moment, number) for moment, number in firsts if moment is not None]
    return getattr(queue, f"at_{min(due)[1]}") if due else None


def _paused(queues: list[dict[str, Any]], now: datetime, *, is_cut: bool) -> list[Symptom]:
    """Report paused queues whose jobs would be late: a person wanted it, others should know."""
    return [
        Symptom(
            kind="queue.paused",
            subject=f"queue:{queue['name']}",
            severity=Severity.NOTICE,
            title=f"Queue {queue['name']} is paused while jobs are due",
            detail=f"{_pauser(queue)} Its jobs start when somebody resumes it.",
            command=f"manage.py queue resume {quote(queue['name'])}",
            cure=_resume(queue),
            affected=_due(queue),
            since=now - timedelta(seconds=queue["oldest_seconds"]),
            is_cut=is_cut,
        )
        for queue in queues
        if queue["paused"]
        and (queue["oldest_seconds"] or 0) > target_age(queue["target_age_seconds"])
    ]


def _resume(queue: dict[str, Any]) -> Cure:
    at_once = pluralize(queue["max_workers"], "job")
    preview = f"{_due(queue)} may start, {at_once} at once."
    return Cure("queue.resume", f"Resume {queue['name']}", preview, queue["name"])


def _pauser(queue: dict[str, Any]) -> str:
    return f"{queue['paused_by']} paused it." if queue["paused_by"] else "It was paused."


def _failing(groups: list[dict[str, Any]]) -> list[Symptom]:
    return [
        Symptom(
            kind="jobs.failing",
            subject=f"error:{group['fingerprint']}",
            severity=Severity.WARNING,
            title=f"{pluralize(group['count'], 'job')} failed with the same error in the last hour",
            detail=group["error"][:160],
            command=f"manage.py queued_jobs list --fingerprint {group['fingerprint']}",
            cure=Cure("jobs.retry", "Retry these jobs", RETRIED, group["fingerprint"]),
            affected=pluralize(group["count"], "job"),
            is_cut=len(groups) >= MOST_GROUPS,
        )
        for group in groups
    ]


def _lost(now: datetime) -> list[Symptom]:
    """Report runs whose worker died within the last hour, all as one."""
    lost = Event.objects.filter(kind="run.lost").order_by("-id").values_list("at", flat=True)
    recent = [at for at in lost[:MOST_LOST] if at >= now - HOUR]
    if not recent:
        return []
    return [
        Symptom(
            kind="runs.lost",
            subject="site:runs",
            severity=Severity.WARNING,
            title=f"{pluralize(len(recent), 'run was', 'runs were')} lost in the last hour",
            detail="The worker died or its lease ran out. Each job is tried again, or has failed.",
            command="manage.py doctor",
            affected=pluralize(len(recent), "run"),
            since=min(recent),
        )
    ]
