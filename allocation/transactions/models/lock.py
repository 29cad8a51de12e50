"""Lock: a transaction holds a key. LockWait: a transaction waits for one."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from allocation.transactions.logic.waits import Edge, blocked, queued
from allocation.transactions.models.document import Document


class Mode(models.TextChoices):
    SHARED = "shared"
    EXCLUSIVE = "exclusive"


class LockQuerySet(models.QuerySet):
    def on(self, collection: str, key: str) -> "LockQuerySet":
        return self.filter(document__collection=collection, document__key=key)

    def against(self, mode: str) -> "LockQuerySet":
        """Return the locks that exclude a lock of this mode."""
        return self if mode == Mode.EXCLUSIVE else self.filter(mode=Mode.EXCLUSIVE)

    def orphaned(self) -> "LockQuerySet":
        """Return locks that outlived their transaction; there are none unless rows were edited."""
        return self.filter(transaction__finished_at__isnull=False)

    def with_names(self) -> "LockQuerySet":
        return self.select_related("document", "transaction")


class Lock(models.Model):
    """The token is larger than that of every earlier lock on the same key."""

    document = models.ForeignKey(
        Document, models.CASCADE, related_name="locks", db_constraint=False, db_index=False
    )
    transaction = models.ForeignKey("allocation.Transaction", models.CASCADE, related_name="locks")
    mode = models.CharField(max_length=9, choices=Mode.choices)
    token = models.BigIntegerField()
    acquired_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = LockQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "transaction"], name="lock_once_per_holder"
            ),
            models.UniqueConstraint(
                fields=["document"],
                condition=Q(mode=Mode.EXCLUSIVE),
                name="lock_one_exclusive_holder",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.mode} lock {self.token} on {self.document_id}"


class LockWaitQuerySet(models.QuerySet):
    def live(self) -> "LockWaitQuerySet":
        """Exclude transactions that are over or expired: nobody queues behind them."""
        return self.filter(transaction__status="active", transaction__expires_at__gt=Now())

    def by_writers(self, collection: str, key: str) -> "LockWaitQuerySet":
        """Return the waits for this key that want it exclusively."""
        here = self.filter(document__collection=collection, document__key=key)
        return here.filter(mode=Mode.EXCLUSIVE)

    def ahead_of(self, wait: "LockWait") -> "LockWaitQuerySet":
        """Return earlier waits for the same key that cannot share it with this one."""
        earlier = self.live().filter(document=wait.document_id, pk__lt=wait.pk)
        return earlier if wait.mode == Mode.EXCLUSIVE else earlier.filter(mode=Mode.EXCLUSIVE)

    def edges(self) -> list[Edge]:
        """Return (waiter, other) where the other holds the key or waited for it earlier."""
        line = self.order_by("pk")
        waits = list(line.values_list("transaction_id", "document_id", "mode"))
        held = Lock.objects.filter(document__in={document for _, document, _ in waits})
        locks = list(held.values_list("transaction_id", "document_id", "mode"))
        return blocked(waits, locks) + queued(waits, locks)


class LockWait(models.Model):
    document = models.ForeignKey(
        Document, models.CASCADE, related_name="waits", db_constraint=False, db_index=False
    )
    transaction = models.OneToOneField(
        "allocation.Transaction", models.CASCADE, related_name="wait"
    )
    mode = models.CharField(max_length=9, choices=Mode.choices)
    since = models.DateTimeField(db_default=Now(), editable=False)

    objects = LockWaitQuerySet.as_manager()

    class Meta:
        ordering = ["since"]
        indexes = [models.Index(fields=["document"], name="wait_by_document")]

    def __str__(self) -> str:
        return f"{self.transaction_id} waits for {self.document_id}"
