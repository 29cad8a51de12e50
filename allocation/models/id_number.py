"""IdNumber: a worker number in job ids, leased by one process at a time."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from allocation.logic.id_blocks import Mark

HELD = ~Q(holder="") & Q(expires_at__gt=Now())


class IdNumberQuerySet(models.QuerySet):
    def held(self) -> "IdNumberQuerySet":
        return self.filter(HELD)

    def expired(self) -> "IdNumberQuerySet":
        return self.exclude(holder="").filter(expires_at__lte=Now())


class IdNumber(models.Model):
    """`high_water_ms` is the last millisecond that ids may have been given out for.

    `ahead_ms` is how far batches, or a clock that went back, have pushed it before the clock,
    `set_back_ms` the share of the clock.
    """

    number = models.PositiveSmallIntegerField(primary_key=True)
    cluster_size = models.PositiveSmallIntegerField()
    holder = models.CharField(max_length=255, default="", blank=True)
    token = models.BigIntegerField(default=0)
    high_water_ms = models.BigIntegerField(default=0)
    ahead_ms = models.BigIntegerField(default=0)
    set_back_ms = models.BigIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)

    objects = IdNumberQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.CheckConstraint(
                condition=Q(cluster_size__in=[10, 100, 1000]), name="id_number_size_is_known"
            ),
            models.CheckConstraint(
                condition=Q(number__lt=models.F("cluster_size")), name="id_number_below_size"
            ),
            models.CheckConstraint(
                condition=Q(holder="") | Q(expires_at__isnull=False), name="id_number_held_expires"
            ),
        ]

    def is_held(self, now: datetime) -> bool:
        return self.holder != "" and self.expires_at is not None and self.expires_at > now

    @property
    def mark(self) -> Mark:
        return Mark(self.high_water_ms, self.ahead_ms, self.set_back_ms)

    @mark.setter
    def mark(self, mark: Mark) -> None:
        self.high_water_ms, self.ahead_ms = mark.ms, mark.ahead_ms
        self.set_back_ms = mark.set_back_ms

    def __str__(self) -> str:
        return f"number {self.number} ({self.holder or 'free'})"
