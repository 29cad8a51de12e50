"""Stations: instances as far as workers serve them."""

from django.db import models
from django.db.models.functions import Now

from atributo_site.core.models.fields import IdField


class StationQuerySet(models.QuerySet["Station"]):
    def served(self) -> "StationQuerySet":
        return self.filter(served_until__gt=Now())

    def away(self) -> "StationQuerySet":
        """Select stations that no worker serves now; `served_until` says since when."""
        return self.filter(served_until__lte=Now())

    def untold(self) -> "StationQuerySet":
        return self.away().filter(is_told=False)


class Station(models.Model):
    """It has no reference to the instance: sticky jobs may wait for one that is removed."""

    instance_id = IdField(primary_key=True)
    served_until = models.DateTimeField(db_default=Now())
    is_told = models.BooleanField(default=False)  # that it is away

    objects = StationQuerySet.as_manager()

    class Meta:
        ordering = ["instance_id"]
        indexes = [models.Index(fields=["served_until"], name="station_by_service")]

    def __str__(self) -> str:
        return self.instance_id
