"""Allocation: which instance a job is on; PastAllocation: where it was before."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from allocation.models.instance import Instance
from atributo_site.core.models.fields import IdField
from atributo_site.core.models.rows import QuickRows


class AllocationQuerySet(models.QuerySet):
    def on(self, instance_id: str) -> "AllocationQuerySet":
        return self.filter(instance_id=instance_id)

    def starting_with(self, text: str) -> "AllocationQuerySet":
        """Filter by a range of the key: LIKE cannot use the index on both databases."""
        return self.filter(pk__gte=text, pk__lt=text + chr(0x10FFFF)) if text else self


class Allocation(QuickRows):
    """The row tells since when, by whom and why; a new placement has a higher epoch."""

    job_id = IdField(primary_key=True)
    instance = models.ForeignKey(
        Instance, models.PROTECT, related_name="allocations", db_index=False
    )
    epoch = models.BigIntegerField()
    allocated_at = models.DateTimeField(db_default=Now(), editable=False)
    strategy = models.CharField(max_length=32)
    candidates = models.PositiveIntegerField()
    score = models.FloatField(null=True, blank=True)
    actor = models.CharField(max_length=255)
    channel = models.CharField(max_length=16)
    labels = models.JSONField(null=True, blank=True)  # that its instance must have

    objects = AllocationQuerySet.as_manager()

    class Meta:
        ordering = ["job_id"]
        indexes = [
            models.Index(fields=["instance", "job_id"], name="allocation_by_instance"),
            models.Index(fields=["epoch"], name="allocation_by_epoch"),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(job_id=""), name="allocation_job_id_not_empty")
        ]

    def __str__(self) -> str:
        return f"{self.job_id} on {self.instance_id}"

    def get_absolute_url(self) -> str:
        return reverse("atributo:allocation", args=[self.pk])


class PastAllocation(models.Model):
    """A placement that has ended: the history of a job, removed by retention only."""

    job_id = IdField()
    instance_id = IdField()
    epoch = models.BigIntegerField()
    allocated_at = models.DateTimeField()
    strategy = models.CharField(max_length=32)
    candidates = models.PositiveIntegerField()
    score = models.FloatField(null=True, blank=True)
    actor = models.CharField(max_length=255)
    channel = models.CharField(max_length=16)
    labels = models.JSONField(null=True, blank=True)
    ended_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_by = models.CharField(max_length=255)
    end_reason = models.CharField(max_length=64)
    ended_epoch = models.BigIntegerField(null=True)  # that of the next placement if it moved

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["job_id", "-epoch"], name="past_allocation_by_job"),
            models.Index(fields=["ended_at"], name="past_allocation_by_end"),
            models.Index(fields=["epoch"], name="past_allocation_by_epoch"),
            models.Index(fields=["ended_epoch"], name="past_allocation_by_ended"),
            models.Index(fields=["instance_id", "-id"], name="past_allocation_by_place"),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} was on {self.instance_id}"
