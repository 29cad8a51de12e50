"""BackendChange: the timeline of a watched name. Rows are only ever added."""

from django.db import models
from django.db.models.functions import Now

from pools.models.pool import Pool


class BackendChange(models.Model):
    class Kind(models.TextChoices):
        ADDED = "added"
        RETURNED = "returned"
        GONE = "gone"
        REMOVED = "removed"
        REFUSED = "refused"
        KEPT = "kept"
        WAITING = "waiting"
        SETTLED = "settled"
        FAILED = "failed"
        RUNNING = "running"
        STALE = "stale"
        FRESH = "fresh"
        ADMINISTERED = "administered"

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="changes", db_index=False)
    at = models.DateTimeField(db_default=Now(), editable=False)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    key = models.CharField(max_length=64, default="", blank=True)
    backend = models.CharField(max_length=512, default="", blank=True)
    detail = models.CharField(max_length=1000, default="", blank=True)
    actor = models.CharField(max_length=255)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["pool", "-id"], name="backend_change_by_pool"),
            models.Index(fields=["at"], name="backend_change_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.backend}"
