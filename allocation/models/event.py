"""Event: what happened, when, by whom. Rows are only ever added, and removed by retention."""

from django.db import models
from django.db.models import Func
from django.db.models.functions import Now


class WritersTransaction(Func):
    """The number of the writing transaction, where ids are not in the order of commits."""

    output_field = models.BigIntegerField()

    def as_postgresql(self, compiler, connection, **extra):
        return "pg_current_xact_id()::text::bigint", []

    def as_sqlite(self, compiler, connection, **extra):
        return "0", []


class EventQuerySet(models.QuerySet["Event"]):
    def about(self, subject: str) -> "EventQuerySet":
        """The events of one object, for example `instance:worker-7`."""
        return self.filter(subject=subject)

    def newest_first(self) -> "EventQuerySet":
        return self.order_by("-id")


class Event(models.Model):
    class Channel(models.TextChoices):
        BROWSER = "browser"
        REST = "rest"
        COMMAND = "command"
        PROCESS = "process"

    at = models.DateTimeField(db_default=Now(), editable=False)
    actor = models.CharField(max_length=255)
    channel = models.CharField(max_length=16, choices=Channel.choices)
    kind = models.CharField(max_length=64)
    subject = models.CharField(max_length=320)
    facts = models.JSONField(default=dict, blank=True)
    request_id = models.CharField(max_length=64, default="", blank=True)
    writer = models.BigIntegerField(db_default=WritersTransaction(), editable=False)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["subject", "-id"], name="event_by_subject"),
            models.Index(fields=["kind", "-id"], name="event_by_kind"),
            models.Index(fields=["actor", "-id"], name="event_by_actor"),
            models.Index(fields=["at"], name="event_by_time"),
            models.Index(fields=["writer", "id"], name="event_by_writer"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
