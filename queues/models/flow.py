"""Flows: the jobs of one flow key and script in a queue, and the gates that put them in order.

Sticky jobs have flows of their own at each instance, so that none waits behind those of another.
"""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from atributo_site.core.models.fields import IdField
from queues.models.queue import Queue


class Flow(models.Model):
    """It is ready while it has a rank: that of its first due job, while no limit holds it."""

    queue = models.ForeignKey(Queue, models.CASCADE, related_name="flows", db_index=False)
    key = models.CharField(max_length=255, blank=True)  # empty for jobs without a flow key
    mount = models.CharField(max_length=255, blank=True)
    script = models.CharField(max_length=255)
    station = IdField(default="", db_default="", blank=True)  # the instance of its sticky jobs
    rank = models.SmallIntegerField(null=True, blank=True)
    time = models.FloatField(default=0)  # virtual: how much its key has had
    wake_at = models.DateTimeField(null=True, blank=True)  # look again then
    waits_for = models.CharField(max_length=255, default="", blank=True)  # the limit, in words
    waits_since = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "key", "mount", "script", "station"], name="flow_once"
            ),
        ]
        indexes = [
            models.Index(
                fields=["queue", "station", "mount", "script", "rank", "time", "id"],
                condition=Q(rank__isnull=False),
                name="flow_ready",
            ),
            models.Index(
                fields=["queue", "wake_at"],
                condition=Q(wake_at__isnull=False),
                name="flow_wakes",
            ),
            models.Index(
                fields=["queue", "waits_since"],
                condition=~Q(waits_for=""),
                name="flow_waits",
            ),
            models.Index(fields=["used_at"], name="flow_by_use"),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.mount}/{self.script}"


class Gate(models.Model):
    """Whoever decides about the flows of a queue, or of a script with limits, locks its gate.

    The gate of a queue is closed while a shared limit lets none of its ready flows start.
    """

    name = models.CharField(max_length=600, primary_key=True)
    queue = models.OneToOneField(Queue, models.CASCADE, null=True, blank=True, related_name="gate")
    time = models.FloatField(default=0)  # virtual: where the keys that have jobs are
    closed_at = models.DateTimeField(null=True, blank=True)
    waits_for = models.CharField(max_length=255, default="", blank=True)
    is_whole = models.BooleanField(default=False)  # it waits for a limit of the whole queue
    wake_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Rate(models.Model):
    """The bucket of a rate: full again at this moment, in microseconds since 1970."""

    name = models.CharField(max_length=64, primary_key=True)  # a digest of what it counts
    full_at = models.BigIntegerField()

    def __str__(self) -> str:
        return self.name
