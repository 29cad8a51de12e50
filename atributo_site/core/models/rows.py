"""Make an object of a row that was read, without the signals and checks of a new one.

Django sets each column by itself and sends two signals for each object, which takes as long as all
else that a REST list does with a row.
"""

from collections.abc import Collection
from typing import Any, Self

from django.db import models
from django.db.models import base

OF_DJANGO: Any = base  # it knows the signals of new objects; we only ask who listens


class QuickRows(models.Model):
    """A table many rows of which are read at once."""

    class Meta:
        abstract = True

    @classmethod
    def from_db(
        cls, db: str | None, field_names: Collection[str], values: Collection[Any], **options: Any
    ) -> Self:
        if len(values) != len(cls._meta.concrete_fields) or not _is_plain(cls):
            return super().from_db(db, field_names, values, **options)
        new = cls.__new__(cls)
        new._state = state = base.ModelState()
        state.adding, state.db = False, db
        if options.get("fetch_mode") is not None:  # as of Django 6.1
            state.fetch_mode = options["fetch_mode"]
        new.__dict__.update(zip(field_names, values, strict=True))
        return new


def _is_plain(kind: type[models.Model]) -> bool:
    """Return whether nobody else wants to know of, or has a say in, each object."""
    if OF_DJANGO.pre_init.has_listeners(kind) or OF_DJANGO.post_init.has_listeners(kind):
        return False
    return kind.__init__ is models.Model.__init__
