"""What is wrong with schedules: runs that did not begin in their grace, missed runs, pauses."""

from datetime import datetime, timedelta
from shlex import quote

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from atributo_site.core.database import dialect, execute
from atributo_site.core.incidents.cure import Cure
from atributo_site.core.incidents.symptom import Severity, Symptom
from atributo_site.core.models import Event
from atributo_site.core.text import pluralize, written
from queues.models import QueuedJob, Schedule, ScheduledRun

MOST = 20
HOUR = timedelta(hours=1)
MILLISECOND = timedelta(milliseconds=1)


# Asked with every page that shows incidents: is there any? Each part is answered by an index.
LOOK = """
    SELECT 1 WHERE EXISTS (SELECT 1 FROM queues_schedule WHERE paused_at IS NULL
        AND ended_at IS NULL AND next_at IS NOT NULL AND next_at <= {now})
    OR EXISTS (SELECT 1 FROM queues_scheduledrun WHERE state IN ('waiting', 'pushed')
        AND started_at IS NULL AND start_by < {now})
    OR EXISTS (SELECT 1 FROM queues_schedule WHERE paused_by = 'system')
    OR EXISTS (SELECT 1 FROM allocation_event WHERE kind = 'schedule.missed')"""


def symptoms(now: datetime) -> list[Symptom]:
    d = dialect()
    if not execute(LOOK.format(now=d.now), {}).rows:
        return []
    return [*_not_dispatched(now), *_not_begun(), *_missed(now), *_paused()]


def _not_dispatched(now: datetime) -> list[Symptom]:
    """Report schedules whose time came and went: no curator is active, or it is busy."""
    due = list(Schedule.objects.due().order_by("next_at")[:MOST])
    late = [each for each in due if each.next_at and now - each.next_at > _grace(each)]
    return [
        _symptom(
            "schedule.late",
            each,
            f"Schedule {each.name} has not started its run of {_said(each.next_at)}",
            "It is due, but no curator has dispatched it.",
            "manage.py run_curator --status",
            since=each.next_at,
            is_cut=len(due) >= MOST,
        )
        for each in late
    ]


def _not_begun() -> list[Symptom]:
    """Report runs whose job still waits after the grace, the oldest of each schedule."""
    waits = QueuedJob.objects.filter(pk=OuterRef("job_id"), started_at=None, ended_at=None)
    runs = ScheduledRun.objects.filter(state="pushed", started_at=None, start_by__lt=Now())
    late = list(
        runs.filter(Exists(waits)).select_related("schedule__queue").order_by("start_by")[:MOST]
    )
    first: dict[int, ScheduledRun] = {}
    for run in late:
        first.setdefault(run.schedule_id, run)
    return [
        _symptom(
            "schedule.not_started",
            run.schedule,
            f"The run of schedule {run.schedule.name} expected at {_said(run.slot_at)} "
            "has not begun",
            f"Its job {run.job_id} waits in queue {run.schedule.queue.name}. "
            f"It should have begun within {written(run.schedule.grace_ms)}.",
            f"manage.py queued_jobs show {run.job_id}",
            since=run.slot_at,
            is_cut=len(late) >= MOST,
        )
        for run in first.values()
    ]


def _missed(now: datetime) -> list[Symptom]:
    """Report what the curator found to be too late within the last hour."""
    events = Event.objects.filter(kind="schedule.missed").order_by("-id")[:MOST]
    recent = [event for event in events if event.at >= now - HOUR]
    return [
        Symptom(
            kind="schedule.missed",
            subject=event.subject,
            severity=Severity.WARNING,
            title=f"{pluralize(int(event.facts.get('count', 1)), 'run')} of "
            f"{event.subject.replace(':', ' ', 1)} missed",
            detail=f"Missed: {event.facts.get('reason', '')}.",
            command=f"manage.py schedules runs {quote(event.subject.partition(':')[2])}",
            since=event.at,
            is_cut=len(recent) >= MOST,
        )
        for event in {event.subject: event for event in recent}.values()
    ]


def _paused() -> list[Symptom]:
    """Report what paused itself: failures in a row, or a zone that is gone."""
    paused = Schedule.objects.filter(paused_by="system", paused_at__isnull=False)
    rows = list(paused.order_by("name")[:MOST])
    return [
        _symptom(
            "schedule.paused",
            each,
            f"Schedule {each.name} paused itself",
            f"{each.pause_reason[:1].upper()}{each.pause_reason[1:]}.",
            f"manage.py schedules resume {quote(each.name)}",
            since=each.paused_at,
            is_cut=len(rows) >= MOST,
            cure=None if "time zone" in each.pause_reason else _resume(each),
        )
        for each in rows
    ]


def _resume(schedule: Schedule) -> Cure:
    preview = (
        "It runs again at its next scheduled time. If it keeps failing, it pauses itself again."
    )
    return Cure("schedule.resume", f"Resume {schedule.name}", preview, schedule.name)


def _symptom(
    kind: str,
    schedule: Schedule,
    title: str,
    detail: str,
    command: str,
    *,
    since: datetime | None,
    is_cut: bool,
    cure: Cure | None = None,
) -> Symptom:
    return Symptom(
        kind=kind,
        subject=f"schedule:{schedule.name}",
        severity=Severity.WARNING,
        title=title,
        detail=detail,
        command=command,
        affected=f"{schedule.mount}/{schedule.script}",
        since=since,
        is_cut=is_cut,
        cure=cure,
    )


def _grace(schedule: Schedule) -> timedelta:
    return schedule.grace_ms * MILLISECOND


def _said(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"
