"""Drain: the jobs of an instance leave it."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from allocation.logic.drain import Progress
from allocation.models.instance import Instance


class DrainQuerySet(models.QuerySet):
    def running(self) -> "DrainQuerySet":
        return self.filter(done_at__isnull=True)


class Drain(models.Model):
    """Jobs move at the pace, if there is one, until `deadline_at`; then all that are left."""

    instance = models.OneToOneField(Instance, models.CASCADE, primary_key=True)
    reason = models.CharField(max_length=255, default="", blank=True)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    deadline_at = models.DateTimeField(null=True, blank=True)
    moves_per_minute = models.PositiveIntegerField(null=True, blank=True)
    paced_at = models.DateTimeField(null=True, blank=True)  # when the pace was changed
    moved_before_pace = models.PositiveBigIntegerField(default=0)
    jobs_at_start = models.PositiveBigIntegerField(default=0)
    moved = models.PositiveBigIntegerField(default=0)
    stuck = models.BooleanField(default=False)
    done_at = models.DateTimeField(null=True, blank=True)

    objects = DrainQuerySet.as_manager()

    class Meta:
        ordering = ["instance_id"]
        indexes = [
            models.Index(
                fields=["started_at"], condition=Q(done_at__isnull=True), name="drain_running"
            )
        ]

    def __str__(self) -> str:
        return f"drain of {self.instance_id}"

    def progress(self, remaining: int, holding: int = 0) -> Progress:
        return Progress(
            self.jobs_at_start, self.moved, remaining, self.started_at, self.deadline_at, holding
        )

    def progress_at_pace(self, remaining: int) -> Progress:
        """Return the progress since the pace was set; nothing is caught up from before."""
        moved, since = self.moved - self.moved_before_pace, self.paced_at or self.started_at
        return Progress(self.jobs_at_start, moved, remaining, since, self.deadline_at)
