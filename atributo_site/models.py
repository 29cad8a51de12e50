"""The site's own tables: permissions, tokens, idempotency keys, views, rule checks, incidents."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from atributo_site.core.incidents.symptom import Key, Severity
from atributo_site.core.models.event import LONGEST_SUBJECT
from atributo_site.permissions import Level


class Access(models.Model):
    """Carry the three permissions; there is no table and no row."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = [(level.value, f"May {level.value}") for level in Level]


class TokenScope(models.Model):
    """Limit what a REST token may do, whatever its owner may, and say for whom it speaks."""

    class Source(models.TextChoices):
        """Who decides through this token whether an instance is available; see `Instance`."""

        MANUAL = "manual", "a person"
        WORKER = "worker", "a program"

    token = models.OneToOneField("knox.AuthToken", models.CASCADE, related_name="scope")
    level = models.CharField(max_length=16, choices=[(level.value, level.value) for level in Level])
    name = models.CharField(max_length=100)
    source = models.CharField(
        max_length=16, choices=Source.choices, default=Source.MANUAL, db_default=Source.MANUAL
    )
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(level__in=[level.value for level in Level]), name="token_level_is_known"
            ),
            models.CheckConstraint(
                condition=Q(source__in=["manual", "worker"]), name="token_source_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.level})"


ANSWERS_KEPT_SECONDS = 24 * 60 * 60


class IdempotencyKey(models.Model):
    """Keep the answer to a POST, so that a repeated one changes nothing twice.

    Until there is one, `holder` names the process that works on it, as its presence does.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    holder = models.CharField(max_length=255, default="", db_default="")
    body = models.TextField(default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="one_answer_per_user_and_key")
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotency_by_time")]

    def __str__(self) -> str:
        return self.key


class SavedView(models.Model):
    """Keep a list with its filters under a name that its owner chose."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="views")
    name = models.CharField(max_length=60)
    screen = models.CharField(max_length=32)
    query = models.CharField(max_length=1000)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "screen", "name"], name="saved_view_name_once_per_screen"
            )
        ]

    def __str__(self) -> str:
        return self.name


class RuleCheck(models.Model):
    """Keep when a rule was last checked, and which rows broke it then."""

    name = models.CharField(max_length=64, primary_key=True)
    sentence = models.CharField(max_length=200)
    broken = models.JSONField(default=list)
    took_ms = models.PositiveIntegerField()
    checked_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


LONGEST_NOTE = 2000


class IncidentQuerySet(models.QuerySet["Incident"]):
    def unresolved(self) -> "IncidentQuerySet":
        return self.filter(resolved_at=None)

    def unacknowledged(self) -> "IncidentQuerySet":
        return self.unresolved().filter(acknowledged_at=None)


class Incident(models.Model):
    """Keep something that is or was wrong; while it lasts, its kind and subject have one row."""

    SEVERITIES = [(each.value, each.value) for each in Severity]

    kind = models.CharField(max_length=64)
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    severity = models.CharField(max_length=16, choices=SEVERITIES)
    title = models.CharField(max_length=500)
    detail = models.TextField(default="", blank=True)
    command = models.CharField(max_length=1000, default="", blank=True)
    affected = models.CharField(max_length=200, default="", blank=True)
    since = models.DateTimeField(null=True, blank=True)
    count = models.PositiveIntegerField(default=1)  # how often it came, this time included
    opened_at = models.DateTimeField(db_default=Now(), editable=False)
    last_seen_at = models.DateTimeField(db_default=Now(), editable=False)
    resolved_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.CharField(max_length=255, default="", blank=True)
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=LONGEST_NOTE, default="", blank=True)

    objects = IncidentQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"],
                condition=Q(resolved_at=None),
                name="one_open_incident_per_key",
            ),
            models.CheckConstraint(
                condition=Q(severity__in=[each.value for each in Severity]),
                name="incident_severity_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["resolved_at", "id"], name="incident_by_end"),
            models.Index(fields=["kind", "subject", "-id"], name="incident_by_key"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def key(self) -> Key:
        return self.kind, self.subject

    def get_absolute_url(self) -> str:
        return reverse("atributo:incident", args=[self.pk])

    @property
    def shown_since(self) -> datetime:
        """Return when it began; when it was noticed, if nobody knows."""
        return self.since or self.opened_at

    @property
    def state(self) -> str:
        if self.resolved_at is not None:
            return "resolved"
        return "open" if self.acknowledged_at is None else "acknowledged"
