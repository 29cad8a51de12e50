"""Document: a JSON value under a collection and a key, with every version it ever had."""

import secrets
from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, When
from django.db.models.functions import Now
from django.urls import reverse

NAME_LENGTH = 255
REF_LENGTH = 32


def new_ref() -> str:
    """Return a name for one version that no other version ever has."""
    return secrets.token_hex(REF_LENGTH // 4)


class DocumentQuerySet(models.QuerySet):
    def at(self, collection: str, key: str) -> "DocumentQuerySet":
        return self.filter(collection=collection, key=key)

    def present(self) -> "DocumentQuerySet":
        return self.filter(present=True)

    def committed(self, but: int | None = None) -> "DocumentQuerySet":
        """Return documents that exist if every open transaction but one were rolled back now."""
        return self.with_images(but).standing(Q(), first_lines(but), but)

    def with_images(self, but: int | None = None) -> "DocumentQuerySet":
        images = {f"committed_{name}": committed_image(name, but=but) for name in ("value", "ref")}
        return self.annotate(**images)

    def standing(
        self, now: Q, lines: models.QuerySet, but: int | None = None
    ) -> "DocumentQuerySet":
        """Return those that meet a condition, by the journal while they change."""
        before = Q(pk__in=lines.filter(before_present=True).values("document"))
        others = changing(but)
        return self.filter((Q(present=True) & now & ~others) | (before & others))


def changing(but: int | None = None) -> Q:
    """Match documents that an open transaction wrote, other than one whose writes are seen.

    Its few locks are read once per query; reading them for each document took seconds for a
    hundred thousand.
    """
    return Q(ref__in=_lines(but).values("after_ref"))


def _lines(but: int | None) -> models.QuerySet:
    """Return the journal of open transactions for the keys that they hold."""
    lines = apps.get_model("allocation", "JournalEntry").objects.filter(
        undo="", transaction__locks__mode="exclusive", transaction__locks__document=F("document")
    )
    return lines if but is None else lines.exclude(transaction=but)


def first_lines(but: int | None = None) -> models.QuerySet:
    """Return the first line of each key, which is the image before the transaction."""
    earlier = apps.get_model("allocation", "JournalEntry").objects.filter(
        transaction=OuterRef("transaction"), document=OuterRef("document"), pk__lt=OuterRef("pk")
    )
    return _lines(but).exclude(Exists(earlier))


def committed_image(
    name: str, of: Callable[[Any], Any] = lambda column: column, but: int | None = None
) -> Case:
    """Return a column of the row as it was before an open transaction changed it."""
    lines = first_lines(but).filter(document=OuterRef("pk"))
    before = Subquery(lines.values(f"before_{name}")[:1])
    return Case(When(changing(but), then=of(before)), default=of(F(name)))


class Document(models.Model):
    """A deleted document keeps its row, so that the tokens of its locks never start again."""

    collection = models.CharField(max_length=NAME_LENGTH)
    key = models.CharField(max_length=NAME_LENGTH)
    present = models.BooleanField(default=False)
    value = models.JSONField(null=True, blank=True)
    ref = models.CharField(max_length=REF_LENGTH, default="", blank=True)
    lock_token = models.BigIntegerField(default=0)
    lock_delayed_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["collection", "key"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "key"], name="document_once_per_key"),
            models.CheckConstraint(
                condition=~Q(collection="") & ~Q(key=""), name="document_has_a_name"
            ),
            models.CheckConstraint(
                condition=Q(present=False) | ~Q(ref=""), name="document_present_has_ref"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.collection}/{self.key}"

    def get_absolute_url(self) -> str:
        return reverse("atributo:document", args=[self.collection, self.key])


class DocumentVersionQuerySet(models.QuerySet):
    def of(self, collection: str, key: str) -> "DocumentVersionQuerySet":
        """Return the versions of a key, without those that were rolled back."""
        return self.not_undone().filter(document__collection=collection, document__key=key)

    def not_undone(self) -> "DocumentVersionQuerySet":
        return self.filter(undone=False)

    def committed(self) -> "DocumentVersionQuerySet":
        """Exclude what open transactions wrote."""
        unfinished = apps.get_model("allocation", "Transaction").objects.unfinished()
        return self.exclude(transaction__in=unfinished.values("pk"))

    def replaced(self) -> "DocumentVersionQuerySet":
        """Return versions that are not and do not become the newest of their key."""
        lock = apps.get_model("allocation", "Lock").objects.filter(document=OuterRef("document"))
        newest = Document.objects.filter(pk=OuterRef("document"), ref=OuterRef("ref"))
        return self.exclude(Exists(lock)).exclude(Exists(newest))


class DocumentVersion(models.Model):
    """What one ref stood for; a deletion is a version without a value."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="versions")
    ref = models.CharField(max_length=REF_LENGTH)
    present = models.BooleanField()
    value = models.JSONField(null=True, blank=True)
    transaction = models.ForeignKey(
        "allocation.Transaction",
        models.DO_NOTHING,  # the version keeps the number when retention removes the transaction
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    undone = models.BooleanField(default=False, db_default=False)  # it was rolled back
    lock_token = models.BigIntegerField(null=True, blank=True)  # of its key when it was written
    at = models.DateTimeField(db_default=Now(), editable=False)

    objects = DocumentVersionQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["document", "ref"], name="version_once_per_ref")
        ]

    def __str__(self) -> str:
        return f"{self.document_id}@{self.ref}"
