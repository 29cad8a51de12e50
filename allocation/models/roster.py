"""Roster: the one row with the version of the list of available instances."""

from django.db import models
from django.db.models import Q

ONLY_ROW = 1


class Roster(models.Model):
    """An allocator has the list in memory and sends its version, which the database compares.

    A version is a random number and never comes back. SQLite counts epochs here,
    PostgreSQL in a sequence.
    """

    id = models.SmallIntegerField(primary_key=True, default=ONLY_ROW)
    version = models.BigIntegerField(default=0)
    epoch = models.BigIntegerField(default=0)
    instances = models.PositiveIntegerField(default=0)
    forgotten_epoch = models.BigIntegerField(default=0, db_default=0)  # changes up to it are gone
    available = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=ONLY_ROW), name="roster_has_one_row")]

    def __str__(self) -> str:
        return f"version {self.version}"
