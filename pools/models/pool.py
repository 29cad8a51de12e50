"""Pool: a name that is watched in DNS, and what is known of it."""

import math
import re

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from pools.address_policy import default_ceiling_ms, default_floor_ms
from pools.models.fields import nameserver_list, recovery_spec, target_name

NAME = RegexValidator(re.compile(r"\A[A-Za-z0-9][A-Za-z0-9._-]*\Z"), "Letters, digits and . _ -")
DAY_MS = 24 * 60 * 60 * 1000


def default_recovery() -> dict[str, dict[str, float]]:
    return {"default": {"timeout": 2000, "retries": 2, "delay": 250, "max_delay": 2000}}


class PoolQuerySet(models.QuerySet["Pool"]):
    def watched(self) -> "PoolQuerySet":
        return self.filter(is_watched=True)

    def troubled(self) -> "PoolQuerySet":
        """Filter those that a person should look at: failed, stale or unconfirmed."""
        trouble = Q(state=Pool.State.FAILED) | Q(stale_since__isnull=False)
        return self.watched().filter(trouble | Q(waiting_since__isnull=False))


class Pool(models.Model):
    """People decide the upper half of the fields; the watcher writes the lower half."""

    class State(models.TextChoices):
        STOPPED = "stopped"
        STARTING = "starting"
        RUNNING = "running"
        FAILED = "failed"

    name = models.CharField(max_length=100, unique=True, validators=[NAME])
    domain = models.CharField(max_length=253, validators=[target_name])
    service = models.CharField(max_length=100, default="_http._tcp")
    default_port = models.PositiveIntegerField(
        default=80, validators=[MinValueValidator(1), MaxValueValidator(65535)]
    )
    nameservers = models.JSONField(default=list, blank=True, validators=[nameserver_list])
    recovery = models.JSONField(default=default_recovery, validators=[recovery_spec])
    ttl_floor_ms = models.PositiveIntegerField(
        default=default_floor_ms, validators=[MinValueValidator(1000), MaxValueValidator(DAY_MS)]
    )
    ttl_ceiling_ms = models.PositiveIntegerField(
        default=default_ceiling_ms, validators=[MinValueValidator(1000), MaxValueValidator(DAY_MS)]
    )
    removal_share = models.FloatField(
        default=0.5, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    grace_seconds = models.PositiveIntegerField(
        default=3600, validators=[MaxValueValidator(366 * 86400)]
    )
    is_watched = models.BooleanField(default=True)
    epoch = models.BigIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    asked_at = models.DateTimeField(null=True, blank=True, editable=False)

    state = models.CharField(
        max_length=16, choices=State.choices, default=State.STOPPED, editable=False
    )
    state_since = models.DateTimeField(db_default=Now(), editable=False)
    stale_since = models.DateTimeField(null=True, blank=True, editable=False)
    last_error = models.CharField(max_length=1000, default="", blank=True, editable=False)
    began_at = models.DateTimeField(null=True, blank=True, editable=False)
    looked_up_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_srv_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_v6_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_v4_at = models.DateTimeField(null=True, blank=True, editable=False)
    next_at = models.DateTimeField(null=True, blank=True, editable=False)
    waiting_since = models.DateTimeField(null=True, blank=True, editable=False)
    waiting = models.PositiveIntegerField(default=0, editable=False)
    steps = models.JSONField(default=list, blank=True, editable=False)
    answer = models.JSONField(default=list, blank=True, editable=False)

    objects = PoolQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(default_port__gte=1, default_port__lte=65535), name="pool_port_is_one"
            ),
            models.CheckConstraint(
                condition=Q(removal_share__gte=0, removal_share__lte=1), name="pool_share_is_one"
            ),
            models.CheckConstraint(
                condition=Q(ttl_floor_ms__gte=1000)
                & Q(ttl_floor_ms__lte=models.F("ttl_ceiling_ms")),
                name="pool_floor_below_ceiling",
            ),
            models.CheckConstraint(
                condition=Q(waiting=0, waiting_since__isnull=True)
                | Q(waiting__gt=0, waiting_since__isnull=False),
                name="pool_waits_since",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("atributo:pool", args=[self.name])

    @property
    def service_name(self) -> str:
        return f"{self.service}.{self.domain}"

    @property
    def shown_state(self) -> str:
        """Return one word for lists: stopped, paused, stale and waiting come before running."""
        if not self.is_watched:
            return "paused"
        if self.state != self.State.RUNNING:
            return self.state
        if self.waiting_since is not None:
            return "waiting"
        return "stale" if self.stale_since else self.state

    def clean(self) -> None:
        super().clean()
        if math.isnan(self.removal_share):  # no comparison refuses it
            raise ValidationError({"removal_share": "A number from 0 to 1."})
        if self.ttl_floor_ms > self.ttl_ceiling_ms:
            raise ValidationError({"ttl_floor_ms": "The floor is above the ceiling."})
        try:
            target_name(f"{self.service}.example")
            if _is_target(self.domain):  # together they may be too long
                target_name(self.service_name)
        except ValidationError as error:
            raise ValidationError({"service": error.messages}) from error


def _is_target(domain: str) -> bool:
    try:
        target_name(domain)
    except ValidationError:
        return False
    return True
