"""Backend: one address and port behind a watched name, and the instance that it is."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Exists, ExpressionWrapper, F, OuterRef, Q, Value
from django.db.models.functions import Now

from allocation.models import Allocation, Hold, Instance
from atributo_site.core.models.fields import IdField
from pools.models.pool import Pool

# SQLite multiplies durations by plain integers only, whatever the kind of column.
GRACE = ExpressionWrapper(
    ExpressionWrapper(F("pool__grace_seconds"), models.IntegerField())
    * Value(timedelta(seconds=1)),
    models.DurationField(),
)


class BackendQuerySet(models.QuerySet["Backend"]):
    def present(self) -> "BackendQuerySet":
        return self.exclude(state=Backend.State.GONE)

    def gone(self) -> "BackendQuerySet":
        return self.filter(state=Backend.State.GONE)

    def revived(self) -> "BackendQuerySet":
        """Filter the gone ones whose instance is available although only DNS decides about it."""
        others = Backend.objects.filter(instance_id=OuterRef("instance_id"), state="present")
        available = Instance.objects.available().filter(source=Instance.Source.DNS)
        return (
            self.gone()
            .filter(Exists(available.filter(pk=OuterRef("instance_id"))), ~Exists(others))
            .filter(pool__is_watched=True)
            .select_related("pool")
            .order_by("pk")
        )

    def overdue(self) -> "BackendQuerySet":
        """Filter those gone for longer than the grace whose instance nobody and nothing keeps."""
        this = {"instance_id": OuterRef("instance_id")}
        decided = Instance.objects.exclude(available=False, source=Instance.Source.DNS)
        return self.gone().filter(
            ~Exists(Allocation.objects.filter(**this)),
            ~Exists(Hold.objects.live().filter(**this)),
            ~Exists(decided.filter(pk=OuterRef("instance_id"))),
            pool__is_watched=True,
            state_since__lte=ExpressionWrapper(Now() - GRACE, models.DateTimeField()),
        )


class Backend(models.Model):
    class State(models.TextChoices):
        """What DNS says; a refused one is in DNS, but may not become an instance."""

        PRESENT = "present"
        GONE = "gone"
        REFUSED = "refused"

    class Administrative(models.TextChoices):
        """What a person says, which outranks DNS; ready leaves the decision to DNS."""

        READY = "ready"
        DRAIN = "drain"
        MAINTENANCE = "maintenance"

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="backends", db_index=False)
    key = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    address = models.CharField(max_length=64)
    port = models.PositiveIntegerField()
    priority = models.PositiveIntegerField(default=0)
    weight = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=16, choices=State.choices, default=State.PRESENT)
    state_since = models.DateTimeField(db_default=Now(), editable=False)
    first_seen_at = models.DateTimeField(db_default=Now(), editable=False)
    last_seen_at = models.DateTimeField(db_default=Now(), editable=False)
    administrative = models.CharField(
        max_length=16, choices=Administrative.choices, default=Administrative.READY
    )
    administrative_by = models.CharField(max_length=255, default="", blank=True)
    reason = models.CharField(max_length=255, default="", blank=True)
    instance_id = IdField()

    objects = BackendQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["instance_id"], name="backend_by_instance"),
            models.Index(fields=["state_since"], condition=Q(state="gone"), name="backend_gone"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["pool", "key"], name="backend_once_per_pool"),
            models.CheckConstraint(
                condition=Q(state__in=["present", "gone", "refused"]),
                name="backend_state_is_known",
            ),
            models.CheckConstraint(
                condition=Q(administrative__in=["ready", "drain", "maintenance"]),
                name="backend_administrative_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.instance_id} of {self.pool_id}"

    @property
    def seen_at(self) -> datetime:
        """Prefer the name's moment: an answer that changes nothing is stored with the name only."""
        if self.state == self.State.GONE or self.key not in self.pool.answer:
            return self.last_seen_at
        return self.pool.stale_since or self.pool.looked_up_at or self.last_seen_at


def instance_id(address: str, port: int) -> str:
    """Return the id of the instance behind an address and port, whichever name led to it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
