"""PoolSnapshot: the live pools of one process, as it last reported them."""

from django.db import models
from django.db.models.functions import Now

from atributo_site.core.models.clock import from_now

OLD_SECONDS = 30


class PoolSnapshotQuerySet(models.QuerySet["PoolSnapshot"]):
    def fresh(self) -> "PoolSnapshotQuerySet":
        """Filter the processes that have reported lately; the others are gone or stuck."""
        return self.filter(at__gt=from_now(-OLD_SECONDS))


class PoolSnapshot(models.Model):
    """Hold a picture of a process's pools; the pools themselves live in that process."""

    process = models.CharField(max_length=255, unique=True)
    at = models.DateTimeField(db_default=Now(), editable=False)
    body = models.JSONField(default=dict, blank=True)

    objects = PoolSnapshotQuerySet.as_manager()

    class Meta:
        ordering = ["process"]
        indexes = [models.Index(fields=["at"], name="pool_snapshot_by_time")]

    def __str__(self) -> str:
        return self.process
