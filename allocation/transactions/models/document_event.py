"""DocumentEvent: a dated JSON value of a key, which is not part of transactions."""

from django.db import models

from allocation.transactions.models.document import NAME_LENGTH, REF_LENGTH


class DocumentEvent(models.Model):
    collection = models.CharField(max_length=NAME_LENGTH)
    key = models.CharField(max_length=NAME_LENGTH)
    type = models.CharField(max_length=NAME_LENGTH)
    timestamp_ms = models.BigIntegerField()
    ordinal = models.BigIntegerField()
    value = models.JSONField(null=True)
    ref = models.CharField(max_length=REF_LENGTH)

    class Meta:
        ordering = ["-timestamp_ms", "-ordinal"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "key", "type", "timestamp_ms", "ordinal"],
                name="document_event_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.collection}/{self.key} {self.type} {self.timestamp_ms}"
