"""Transaction: its one row decides whether its changes stand."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse

from atributo_site.core.models.clock import from_now

OPEN = ("active", "rolling_back", "stuck")
FINISHED = ("completed", "rolled_back")


class TransactionQuerySet(models.QuerySet):
    def unfinished(self) -> "TransactionQuerySet":
        return self.filter(finished_at__isnull=True)

    def finished(self) -> "TransactionQuerySet":
        return self.filter(finished_at__isnull=False)

    def stuck(self) -> "TransactionQuerySet":
        return self.unfinished().filter(status=Transaction.Status.STUCK)

    def overdue(self, now: datetime) -> "TransactionQuerySet":
        """Return what a curator rolls back: time and grace are over, or a retry is due."""
        grace = timedelta(milliseconds=settings.ATRIBUTO.additional_timeout_wait_ms)
        return self.unfinished().filter(expires_at__lte=now - grace)

    def claim(self, pk: int, epoch: int, cause: str, seconds: float) -> bool:
        """Take it over to roll it back; return True for one caller and fence all others."""
        return self.filter(pk=pk, epoch=epoch).claim_all(cause, seconds) == 1

    def claim_all(self, cause: str, seconds: float) -> int:
        """Take them over, as far as they are not finished."""
        return self.unfinished().update(
            status=Transaction.Status.ROLLING_BACK,
            epoch=F("epoch") + 1,
            cause=models.Case(
                models.When(status=Transaction.Status.ACTIVE, then=models.Value(cause)),
                default=F("cause"),
            ),
            expires_at=from_now(seconds),
        )

    def finish(self, pks: Sequence[int]) -> int:
        """End roll backs that the caller holds by their epoch."""
        rolling_back = self.unfinished().filter(pk__in=pks, status=Transaction.Status.ROLLING_BACK)
        return rolling_back.update(status=Transaction.Status.ROLLED_BACK, finished_at=Now())

    def mark_stuck(self, pk: int, epoch: int, error: str, seconds: float) -> bool:
        return (
            self.unfinished()
            .filter(pk=pk, epoch=epoch)
            .update(
                status=Transaction.Status.STUCK,
                attempts=F("attempts") + 1,
                error=error[:2000],
                expires_at=from_now(seconds),
            )
            == 1
        )


class Transaction(models.Model):
    """The epoch grows whenever somebody takes it over; a writer with an old one writes nothing.

    `expires_at` is when an active one ends unless it is renewed, when a rollback counts as
    abandoned, and when a stuck one is tried again.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        ROLLING_BACK = "rolling_back"
        STUCK = "stuck"
        COMPLETED = "completed"
        ROLLED_BACK = "rolled_back"

    class Cause(models.TextChoices):
        NONE = ""
        REQUESTED = "requested"
        FAILED = "failed"
        TIMED_OUT = "timed_out"
        OPERATOR = "operator"

    status = models.CharField(max_length=16, choices=Status.choices, default=Status.ACTIVE)
    epoch = models.BigIntegerField(default=1)
    owner = models.CharField(max_length=255, default="", blank=True)  # as we know them
    label = models.CharField(max_length=255, default="", db_default="", blank=True)  # their words
    channel = models.CharField(max_length=16, default="", db_default="", blank=True)
    # Who may go on with it over REST: the number of a token or a user; empty for a program.
    caller = models.CharField(max_length=40, default="", db_default="", blank=True)
    cause = models.CharField(max_length=16, choices=Cause.choices, default=Cause.NONE, blank=True)
    reason = models.TextField(default="", blank=True)
    error = models.TextField(default="", blank=True)
    attempts = models.IntegerField(default=0)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    limit_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = TransactionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["expires_at"],
                name="transaction_unfinished",
                condition=Q(finished_at__isnull=True),
            ),
            models.Index(
                fields=["finished_at", "status"],
                name="transaction_finished",
                condition=Q(finished_at__isnull=False),
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=OPEN, finished_at__isnull=True)
                | Q(status__in=FINISHED, finished_at__isnull=False),
                name="transaction_finished_has_time",
            ),
            models.CheckConstraint(condition=Q(epoch__gte=1), name="transaction_epoch_grows"),
        ]

    def __str__(self) -> str:
        return f"transaction {self.pk} ({self.status})"

    def get_absolute_url(self) -> str:
        return reverse("atributo:transaction", args=[self.pk])
