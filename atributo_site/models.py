"""The site's own tables: permissions, token scopes, idempotency keys, saved views, rule checks."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from atributo_site.permissions import Level


class Access(models.Model):
    """Carry the three permissions; there is no table and no row."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = [(level.value, f"May {level.value}") for level in Level]


class TokenScope(models.Model):
    """Limit what a REST token may do, whatever its owner may."""

    token = models.OneToOneField("knox.AuthToken", models.CASCADE, related_name="scope")
    level = models.CharField(max_length=16, choices=[(level.value, level.value) for level in Level])
    name = models.CharField(max_length=100)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(level__in=[level.value for level in Level]), name="token_level_is_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.level})"


class IdempotencyKey(models.Model):
    """Keep the answer to a POST, so that a repeated one changes nothing twice."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
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
