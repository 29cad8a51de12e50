"""One action on all jobs that match a query, done piece by piece in the background."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse


class OperationQuerySet(models.QuerySet):
    def unfinished(self) -> "OperationQuerySet":
        return self.filter(ended_at=None)


class Operation(models.Model):
    """It visits jobs from the newest to the oldest: those at or below `upto` are still to come."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        COMPLETE = "complete"
        ABORTED = "aborted"

    class Action(models.TextChoices):
        RETRY = "retry"
        ABORT = "abort"
        DELETE = "delete"

    action = models.CharField(max_length=8, choices=Action.choices)
    query = models.JSONField(default=dict)
    said = models.CharField(max_length=1000)
    reason = models.CharField(max_length=2000, default="", blank=True)
    actor = models.CharField(max_length=255)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    upto = models.BigIntegerField()
    expected = models.PositiveIntegerField()  # counted no further than COUNTED
    visited = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = OperationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["id"], condition=Q(ended_at=None), name="operation_unfinished")
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running"], ended_at__isnull=True)
                | Q(state__in=["complete", "aborted"], ended_at__isnull=False),
                name="operation_ended_has_time",
            ),
            models.CheckConstraint(
                condition=Q(visited__gte=F("changed")), name="operation_changes_what_it_visits"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.said}"

    def get_absolute_url(self) -> str:
        return reverse("atributo:operation", args=[self.pk])

    @property
    def percent(self) -> float:
        """Return how much is done of what was counted; the query may match more by then."""
        if self.state == self.State.COMPLETE:
            return 100.0
        return min(99.0, 100 * self.visited / self.expected) if self.expected else 0.0


class OperationRefusal(models.Model):
    """A job that the operation could not change, and why."""

    operation = models.ForeignKey(Operation, models.CASCADE, related_name="refusals")
    job_id = models.BigIntegerField()
    reason = models.CharField(max_length=500)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.job_id}: {self.reason}"
