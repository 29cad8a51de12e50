"""Event: what happened, when and by whom. Rows are only added, and removed by retention."""

from collections.abc import Iterable
from datetime import datetime
from hashlib import md5
from typing import Any

from django.db import models
from django.db.models import Func
from django.db.models.functions import Now

from atributo_site.core.models.fields import within_period
from atributo_site.core.models.rows import QuickRows
from atributo_site.core.redaction import masked

LONGEST_SUBJECT = 320


def stored_subject(subject: str) -> str:
    """Shorten a subject that is too long: its end becomes a digest of the whole."""
    if len(subject) <= LONGEST_SUBJECT:
        return subject
    digest = md5(subject.encode(), usedforsecurity=False).hexdigest()
    return f"{subject[: LONGEST_SUBJECT - len(digest) - 1]}…{digest}"


class WritersTransaction(Func):
    """Store the number of the writing transaction: ids are not in the order of commits."""

    output_field = models.BigIntegerField()

    def as_postgresql(self, compiler, connection, **extra):
        return "pg_current_xact_id()::text::bigint", []

    def as_sqlite(self, compiler, connection, **extra):
        return "0", []


class ThisCluster(Func):
    """Store which PostgreSQL cluster counts that number: a restored backup is in another one."""

    output_field = models.BigIntegerField()

    def as_postgresql(self, compiler, connection, **extra):
        return "(pg_control_system()).system_identifier", []

    def as_sqlite(self, compiler, connection, **extra):
        return "0", []


class EventQuerySet(models.QuerySet["Event"]):
    def about(self, subject: str) -> "EventQuerySet":
        """Filter the events of one object, for example `instance:worker-7`."""
        return self.filter(subject=stored_subject(subject))

    def of_kinds(self, kinds: Iterable[str]) -> "EventQuerySet":
        """Return a union, which takes no more filters: with IN the primary key would be scanned."""
        first, *others = (self.filter(kind=kind).order_by() for kind in kinds)
        return first.union(*others, all=True)

    def near(self, since: datetime | None, until: datetime | None) -> "EventQuerySet":
        return within_period(self, since, until)

    def newest_first(self) -> "EventQuerySet":
        return self.order_by("-id")


class Event(QuickRows):
    class Channel(models.TextChoices):
        BROWSER = "browser"
        REST = "rest"
        COMMAND = "command"
        PROCESS = "process"

    at = models.DateTimeField(db_default=Now(), editable=False)
    actor = models.CharField(max_length=255)
    channel = models.CharField(max_length=16, choices=Channel.choices)
    kind = models.CharField(max_length=64)
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    facts = models.JSONField(default=dict, blank=True)
    request_id = models.CharField(max_length=64, default="", blank=True)
    writer = models.BigIntegerField(db_default=WritersTransaction(), editable=False)
    cluster = models.BigIntegerField(db_default=ThisCluster(), editable=False)

    objects = EventQuerySet.as_manager()

    class Meta:
        app_label = "allocation"  # the table keeps its name
        ordering = ["id"]
        indexes = [
            # The columns after the id let an index answer alone, without a look at the row.
            models.Index(fields=["subject", "-id", "kind", "actor"], name="event_by_subject"),
            models.Index(fields=["kind", "-id", "actor"], name="event_by_kind"),
            models.Index(fields=["actor", "-id"], name="event_by_actor"),
            models.Index(fields=["at", "id"], name="event_by_time"),
            models.Index(fields=["cluster", "writer", "id"], name="event_by_cluster"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"

    @property
    def shown_facts(self) -> Any:
        """Return the facts without secrets: a row may be older than the rule that hides one."""
        return masked(self.facts)
