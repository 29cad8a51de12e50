"""Hold: why an instance may not be removed yet, written by whoever uses it."""

from django.db import models
from django.db.models import Q, Sum
from django.db.models.functions import Now

from allocation.models.instance import Instance


class HoldQuerySet(models.QuerySet):
    def live(self) -> "HoldQuerySet":
        return self.filter(Q(until__isnull=True) | Q(until__gt=Now()))

    def counted(self) -> dict[str, int]:
        """Return kind → number of holds."""
        rows = self.order_by().values_list("kind").annotate(Sum("count"))
        return dict(rows)


class Hold(models.Model):
    """E.g. a running job, or some open claims; its writer finds it again by `key`."""

    instance = models.ForeignKey(Instance, models.CASCADE, related_name="holds", db_index=False)
    kind = models.CharField(max_length=32)
    key = models.CharField(max_length=255)
    count = models.PositiveIntegerField(default=1)
    since = models.DateTimeField(db_default=Now(), editable=False)
    until = models.DateTimeField(null=True, blank=True)

    objects = HoldQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["until"], name="hold_by_expiry")]
        constraints = [
            models.UniqueConstraint(
                fields=["instance", "kind", "key"], name="hold_once_per_instance_and_key"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key} on {self.instance_id}"
