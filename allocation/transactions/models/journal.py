"""JournalEntry: what a key was before a transaction wrote it."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from allocation.transactions.logic.undo import Image, Write
from allocation.transactions.models.document import REF_LENGTH, Document


class JournalQuerySet(models.QuerySet):
    def not_undone(self) -> "JournalQuerySet":
        return self.filter(undo="")

    def with_documents(self) -> "JournalQuerySet":
        """Read the documents, too; a line stays in the list if its document is gone."""
        return self.prefetch_related("document")


class JournalEntry(models.Model):
    class Action(models.TextChoices):
        PUT = "put"
        DELETE = "delete"

    class Undo(models.TextChoices):
        NONE = ""
        RESTORED = "restored"
        LEFT_ALONE = "left_alone"

    transaction = models.ForeignKey(
        "allocation.Transaction", models.CASCADE, related_name="journal", db_index=False
    )
    document = models.ForeignKey(
        Document, models.CASCADE, related_name="journal", db_constraint=False, db_index=False
    )
    action = models.CharField(max_length=8, choices=Action.choices)
    before_present = models.BooleanField()
    before_ref = models.CharField(max_length=REF_LENGTH, default="", blank=True)
    before_value = models.JSONField(null=True, blank=True)
    after_ref = models.CharField(max_length=REF_LENGTH)
    undo = models.CharField(max_length=12, choices=Undo.choices, default=Undo.NONE, blank=True)
    at = models.DateTimeField(db_default=Now(), editable=False)

    objects = JournalQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "journal entries"
        indexes = [models.Index(fields=["transaction", "id"], name="journal_of_transaction")]
        constraints = [
            models.CheckConstraint(
                condition=Q(before_present=False) | ~Q(before_ref=""),
                name="journal_before_has_ref",
            )
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.document_id} in {self.transaction_id}"

    @property
    def document_name(self) -> str:
        try:
            return str(self.document)
        except Document.DoesNotExist:
            return f"no document {self.document_id}"

    def write(self) -> Write:
        """Return this line as the undo logic reads it."""
        before = Image(self.before_present, self.before_value, self.before_ref)
        return Write(self.document_id, before, self.after_ref, self.pk)
