"""Schedules, and one row for each run that a schedule expects."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from queues.logic.schedules.policies import Overlap
from queues.models.queue import Queue

CATCH_UP_MS = 3_600_000
GRACE_MS = 60_000
ACTIVE = Q(paused_at__isnull=True, ended_at__isnull=True, next_at__isnull=False)


class ScheduleQuerySet(models.QuerySet):
    def active(self) -> "ScheduleQuerySet":
        return self.filter(ACTIVE)

    def due(self, now: datetime | None = None) -> "ScheduleQuerySet":
        """Select what is due by the database's clock, or at a moment that a test gives."""
        return self.active().filter(next_at__lte=now or Now())


class Schedule(models.Model):
    """What runs, by which rule, and until when; `next_at` is the next run that it expects."""

    name = models.CharField(max_length=128, unique=True)
    # What it runs; queues.schedules.target reads these and nobody else.
    mount = models.CharField(max_length=255)
    script = models.CharField(max_length=128)
    data = models.JSONField(null=True, blank=True)
    queue = models.ForeignKey(Queue, models.PROTECT, related_name="schedules", db_index=False)
    options = models.JSONField(default=dict, blank=True)

    rule = models.JSONField()
    zone = models.CharField(max_length=64, default="UTC")
    starts_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    most_runs = models.PositiveIntegerField(null=True, blank=True)
    jitter_ms = models.BigIntegerField(default=0)

    overlap = models.CharField(
        max_length=9, choices=[(each.value, each.value) for each in Overlap], default="skip"
    )
    catch_up_ms = models.BigIntegerField(default=CATCH_UP_MS)
    grace_ms = models.BigIntegerField(default=GRACE_MS)
    pause_after_failures = models.PositiveIntegerField(null=True, blank=True)

    backfill_at_once = models.PositiveIntegerField(default=1)  # runs of a past range

    next_at = models.DateTimeField(null=True, blank=True)
    runs = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)  # in a row
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.CharField(max_length=255, default="", blank=True)
    pause_reason = models.CharField(max_length=2000, default="", blank=True)
    paused_until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    service = models.CharField(max_length=255, default="", blank=True)  # whose manifest has it
    declared = models.JSONField(null=True, blank=True)  # as that manifest says
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    created_by = models.CharField(max_length=255, default="", blank=True)
    changed_at = models.DateTimeField(db_default=Now())

    objects = ScheduleQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        indexes = [
            models.Index(fields=["next_at"], condition=ACTIVE, name="schedule_due"),
            models.Index(
                fields=["paused_until"],
                condition=Q(paused_until__isnull=False),
                name="schedule_paused_until",
            ),
            models.Index(
                fields=["name"], condition=Q(paused_by="system"), name="schedule_paused_itself"
            ),
            models.Index(fields=["service"], condition=~Q(service=""), name="schedule_of_service"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(overlap__in=[each.value for each in Overlap]),
                name="schedule_overlap_known",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) | Q(next_at__isnull=True),
                name="schedule_ended_expects_nothing",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("atributo:schedule", args=[self.name])

    @property
    def state(self) -> str:
        if self.ended_at is not None:
            return "ended"
        return "paused" if self.paused_at is not None else "active"


class ScheduledRunQuerySet(models.QuerySet):
    def open(self) -> "ScheduledRunQuerySet":
        """Select runs that wait, or whose job is unfinished."""
        return self.filter(OPEN)


OPEN = Q(state__in=["waiting", "pushed"])


class ScheduledRun(models.Model):
    """One run: expected at `slot_at`, by a job that is due a little later if there is jitter."""

    class State(models.TextChoices):
        WAITING = "waiting"  # for the run before it
        PUSHED = "pushed"
        COMPLETE = "complete"
        FAILED = "failed"
        ABORTED = "aborted"
        SKIPPED = "skipped"
        MISSED = "missed"

    class Kind(models.TextChoices):
        SLOT = "slot"
        MANUAL = "manual"
        BACKFILL = "backfill"

    schedule = models.ForeignKey(
        Schedule, models.CASCADE, related_name="expected_runs", db_index=False
    )
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.SLOT)
    slot_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=State.choices)
    reason = models.CharField(max_length=500, default="", blank=True)
    job_id = models.BigIntegerField(null=True, blank=True)  # jobs are deleted earlier
    start_by = models.DateTimeField()  # after its grace
    dispatched_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = ScheduledRunQuerySet.as_manager()

    class Meta:
        ordering = ["-slot_at", "-id"]
        indexes = [
            models.Index(fields=["schedule", "slot_at"], name="scheduled_run_by_slot"),
            models.Index(fields=["schedule", "slot_at"], condition=OPEN, name="scheduled_run_open"),
            models.Index(
                fields=["start_by"],
                condition=Q(state__in=["waiting", "pushed"], started_at__isnull=True),
                name="scheduled_run_unstarted",
            ),
            models.Index(fields=["slot_at"], name="scheduled_run_by_time"),
        ]
        constraints = [
            # Whatever dies and whoever dispatches, a slot has one run and so at most one job.
            models.UniqueConstraint(
                fields=["schedule", "slot_at"],
                condition=Q(kind__in=["slot", "backfill"]),
                name="scheduled_run_once_per_slot",
            ),
            models.UniqueConstraint(
                fields=["job_id"], condition=Q(job_id__isnull=False), name="scheduled_job_once"
            ),
            models.CheckConstraint(
                condition=~Q(state="pushed") | Q(job_id__isnull=False),
                name="scheduled_run_pushed_has_job",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.schedule_id} {self.slot_at.isoformat()}"
