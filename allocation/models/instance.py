"""Instance: something that jobs can be allocated to."""

from typing import Any

from django.db import models
from django.db.models import F, Func, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce, Now
from django.urls import reverse

from atributo_site.core.models.fields import IdField
from atributo_site.core.models.rows import QuickRows

# The same words as those of `Instance.state`.
STATES = {
    "available": Q(available=True),
    "unavailable": Q(available=False, is_dead=False, drain__isnull=True),
    "draining": Q(available=False, drain__isnull=False, drain__done_at__isnull=True),
    "drained": Q(available=False, drain__done_at__isnull=False),
    "dead": Q(available=False, is_dead=True, drain__isnull=True),
}


class Label(Func):
    """The value of a label as text. Django's look-ups take some names for words of their own."""

    output_field = models.TextField()

    def __init__(self, name: str) -> None:
        super().__init__(F("labels"))
        self.name = name

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        column, parameters = compiler.compile(self.source_expressions[0])
        return f"({column} ->> %s)", [*parameters, self.name]

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        column, parameters = compiler.compile(self.source_expressions[0])
        member = f"SELECT CAST(value AS TEXT) FROM json_each({column}) WHERE key = %s"  # nosec B608 # the column is Django's
        return f"({member})", [*parameters, self.name]  # a path ends at a quote in the name


class InstanceQuerySet(models.QuerySet):
    def available(self) -> "InstanceQuerySet":
        return self.filter(available=True)

    def draining(self) -> "InstanceQuerySet":
        return self.in_state("draining")

    def in_state(self, word: str) -> "InstanceQuerySet":
        return self.filter(STATES[word])

    def dead(self) -> "InstanceQuerySet":
        """Return those that are still available, though their heartbeat has stopped."""
        return self.filter(available=True, lease_until__lte=Now())

    def starting_with(self, text: str) -> "InstanceQuerySet":
        """Filter by a range of the key: LIKE cannot use the index on both databases."""
        return self.filter(pk__gte=text, pk__lt=text + chr(0x10FFFF)) if text else self

    def with_label(self, name: str, value: str) -> "InstanceQuerySet":
        return self.alias(wanted_label=Label(name)).filter(wanted_label=value)

    def with_load(self) -> "InstanceQuerySet":
        """Add `load`, the number of jobs, from the counters and not from the jobs."""
        parts = InstanceLoad.objects.filter(instance=OuterRef("pk")).order_by().values("instance")
        jobs = Subquery(parts.annotate(jobs_=Sum("jobs")).values("jobs_"))
        return self.annotate(load=Coalesce(jobs, 0))


class Instance(QuickRows):
    class Source(models.TextChoices):
        """Who decided; a person outranks automation."""

        MANUAL = "manual"
        DNS = "dns"
        WORKER = "worker"

    id = IdField(primary_key=True)
    available = models.BooleanField(default=False)
    source = models.CharField(max_length=16, choices=Source.choices, default=Source.MANUAL)
    origin = models.CharField(max_length=16, choices=Source.choices, default=Source.MANUAL)
    weight = models.PositiveIntegerField(default=1)
    capacity = models.PositiveIntegerField(null=True, blank=True)
    labels = models.JSONField(default=dict, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    is_dead = models.BooleanField(default=False)
    reason = models.CharField(max_length=255, default="", blank=True)
    epoch = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    changed_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = InstanceQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["id"], condition=Q(available=True), name="instance_available"),
            models.Index(
                fields=["lease_until"], condition=Q(available=True), name="instance_by_lease"
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(id=""), name="instance_id_not_empty"),
            models.CheckConstraint(condition=Q(weight__gte=1), name="instance_weight_positive"),
            models.CheckConstraint(
                condition=Q(is_dead=False) | Q(available=False), name="instance_dead_unavailable"
            ),
            models.CheckConstraint(
                condition=Q(source__in=["manual", "dns", "worker"])
                & Q(origin__in=["manual", "dns", "worker"]),
                name="instance_source_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.id

    def get_absolute_url(self) -> str:
        return reverse("atributo:instance", args=[self.pk])

    @property
    def state(self) -> str:
        """Return one word: available, draining, drained, dead or unavailable."""
        if self.available:
            return "available"
        drain: Any = getattr(self, "drain", None)
        if drain is not None:
            return "drained" if drain.done_at else "draining"
        return "dead" if self.is_dead else "unavailable"


class InstanceLoad(models.Model):
    """How many jobs an instance has, in parts: allocators that run at once use different parts.

    A part may be negative, the sum never is. An instance with a capacity uses part 0 only.
    """

    pk = models.CompositePrimaryKey("instance_id", "part")
    instance = models.ForeignKey(Instance, models.CASCADE, related_name="loads", db_index=False)
    part = models.SmallIntegerField(default=0)
    jobs = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.instance_id}: {self.jobs}"
