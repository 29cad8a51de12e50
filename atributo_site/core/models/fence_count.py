"""FenceCount: how often a late writer was refused."""

from django.db import models


class FenceCount(models.Model):
    class Kind(models.TextChoices):
        ALLOCATION = "allocation", "an old epoch of an allocation"
        TRANSACTION = "transaction", "a transaction that was taken over"
        ATTEMPT = "attempt", "an attempt that was lost or aborted"
        RUN = "run", "a result that came too late"
        LEASE = "lease", "a lease that is held by another"

    kind = models.CharField(max_length=16, choices=Kind.choices, primary_key=True)
    refused = models.PositiveBigIntegerField(default=0)
    last_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "allocation"  # the table keeps its name

    def __str__(self) -> str:
        return f"{self.kind}: {self.refused}"
