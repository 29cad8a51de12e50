"""Queues and their slots: as many jobs of a queue run at once as slots are held."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from queues.logic.absence import WhenAway

MOST_WORKERS = 1000
RETENTION_DAYS = 30
AWAY_SECONDS = 30
MOST_TARGET_AGE_SECONDS = 365 * 86_400


class QueueQuerySet(models.QuerySet):
    def existing(self) -> "QueueQuerySet":
        return self.filter(deleted_at=None)

    def revive(self, max_workers: int) -> bool:
        """Make a deleted queue as a new one with its old jobs; False when none was deleted."""
        deleted = self.exclude(deleted_at=None)
        return (
            deleted.update(
                deleted_at=None,
                created_at=Now(),
                max_workers=max_workers,
                paused_at=None,
                paused_by="",
                retention_days=RETENTION_DAYS,
                when_away=WhenAway.WAIT,
                away_seconds=AWAY_SECONDS,
                target_age_seconds=None,
                record_start=False,
            )
            == 1
        )

    def active(self) -> "QueueQuerySet":
        """Select queues whose jobs may start."""
        return self.existing().filter(paused_at=None)


class Queue(models.Model):
    """A deleted queue keeps its row, so that its jobs wait for it to be made again."""

    name = models.CharField(max_length=255, unique=True)
    max_workers = models.PositiveIntegerField(default=1)
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.CharField(max_length=255, default="", blank=True)
    retention_days = models.PositiveIntegerField(default=RETENTION_DAYS)
    when_away = models.CharField(
        max_length=8, choices=[(each.value, each.value) for each in WhenAway], default="wait"
    )
    away_seconds = models.PositiveIntegerField(default=AWAY_SECONDS)
    target_age_seconds = models.PositiveIntegerField(null=True, blank=True)
    record_start = models.BooleanField(default=False, db_default=False)  # before a job begins
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = QueueQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(max_workers__gte=1, max_workers__lte=MOST_WORKERS),
                name="queue_max_workers_in_range",
            ),
            models.CheckConstraint(
                condition=Q(when_away__in=[each.value for each in WhenAway]),
                name="queue_when_away_known",
            ),
            models.CheckConstraint(
                condition=Q(target_age_seconds=None)
                | Q(target_age_seconds__range=(1, MOST_TARGET_AGE_SECONDS)),
                name="queue_target_age_in_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("atributo:queue", args=[self.name])

    @property
    def paused(self) -> bool:
        return self.paused_at is not None

    def add_slots(self) -> None:
        """Add a row for each job that may run at once; rows are never removed."""
        slots = [Slot(queue=self, number=number) for number in range(self.max_workers)]
        Slot.objects.bulk_create(slots, ignore_conflicts=True)


class SlotQuerySet(models.QuerySet):
    def live(self) -> "SlotQuerySet":
        """Select slots held by a worker that renews its lease."""
        return self.filter(leased_until__gt=Now())

    def expired(self) -> "SlotQuerySet":
        """Select slots held by a worker that stopped renewing."""
        return self.exclude(holder="").filter(leased_until__lte=Now())


class Slot(models.Model):
    """The right to run one job of a queue. The epoch only grows: a late holder is refused."""

    queue = models.ForeignKey(Queue, models.CASCADE, related_name="slots")
    number = models.PositiveIntegerField()
    holder = models.CharField(max_length=255, default="", blank=True)
    epoch = models.BigIntegerField(default=0)
    leased_until = models.DateTimeField(null=True, blank=True)
    rung_at = models.DateTimeField(null=True, blank=True)
    notes_key = models.CharField(max_length=64, default="", db_default="", blank=True)  # a secret

    objects = SlotQuerySet.as_manager()

    class Meta:
        ordering = ["queue", "number"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "number"], name="slot_number_once"),
            models.CheckConstraint(
                condition=Q(holder="") | Q(leased_until__isnull=False), name="slot_held_expires"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.queue_id}/{self.number}"
