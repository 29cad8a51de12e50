"""Relation: a named link from one key to another, which is not part of transactions."""

from django.db import models
from django.db.models.functions import Now

from allocation.transactions.models.document import NAME_LENGTH


class Relation(models.Model):
    collection = models.CharField(max_length=NAME_LENGTH)
    key = models.CharField(max_length=NAME_LENGTH)
    kind = models.CharField(max_length=NAME_LENGTH)
    to_collection = models.CharField(max_length=NAME_LENGTH)
    to_key = models.CharField(max_length=NAME_LENGTH)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "key", "kind", "to_collection", "to_key"],
                name="relation_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.collection}/{self.key} {self.kind} {self.to_collection}/{self.to_key}"
