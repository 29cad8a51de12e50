"""What a run does to documents and queues before it is known to have succeeded."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from queues.models.job import QueuedJob
from queues.models.queue import Queue


class AttemptTransaction(models.Model):
    """Which transaction an attempt began, at which hold of which slot."""

    job = models.ForeignKey(QueuedJob, models.CASCADE, related_name="transactions", db_index=False)
    attempt = models.PositiveIntegerField()
    transaction = models.BigIntegerField(unique=True)
    slot = models.BigIntegerField()
    slot_epoch = models.BigIntegerField()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["job", "attempt"], name="transactions_of_attempt")]

    def __str__(self) -> str:
        return f"transaction {self.transaction} of {self.job_id} attempt {self.attempt}"


class HeldPush(models.Model):
    """A push that becomes a job when its transaction completes, and nothing otherwise."""

    id = models.BigIntegerField(primary_key=True)  # the id that the job will have
    transaction = models.BigIntegerField()
    queue = models.ForeignKey(Queue, models.CASCADE, related_name="+", db_index=False)
    columns = models.JSONField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "held pushes"
        indexes = [models.Index(fields=["transaction", "id"], name="pushes_of_transaction")]
        constraints = [
            models.CheckConstraint(condition=Q(id__gt=0), name="held_push_has_an_id"),
        ]

    def __str__(self) -> str:
        return f"push {self.id} held by transaction {self.transaction}"
