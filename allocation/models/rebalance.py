"""Rebalance: jobs move to where they would be placed today."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from allocation.logic.drain import Progress
from atributo_site.core.models.fields import IdField
from atributo_site.core.text import pluralize

ONLY_ROW = 1


class Rebalance(models.Model):
    """The one row is the last rebalance: it looks at every job once, in the order of ids."""

    id = models.SmallIntegerField(primary_key=True, default=ONLY_ROW)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    moves_per_minute = models.PositiveIntegerField()
    jobs_at_start = models.PositiveBigIntegerField(default=0)
    looked_at = models.PositiveBigIntegerField(default=0)
    moved = models.PositiveBigIntegerField(default=0)
    last_job_id = IdField(default="", blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    stopped = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=ONLY_ROW), name="rebalance_has_one_row"),
            models.CheckConstraint(
                condition=Q(stopped=False) | Q(done_at__isnull=False),
                name="rebalance_stopped_is_done",
            ),
        ]

    def __str__(self) -> str:
        return f"rebalance with {pluralize(self.moved, 'move')}"

    @property
    def is_running(self) -> bool:
        return self.done_at is None

    @property
    def progress(self) -> Progress:
        remaining = 0 if self.done_at else max(1, self.jobs_at_start - self.looked_at)
        return Progress(self.jobs_at_start, self.moved, remaining, self.started_at, None)

    @property
    def facts(self) -> dict[str, object]:
        """Return what REST and commands show."""
        return {
            "running": self.is_running,
            "stopped": self.stopped,
            "since": self.started_at,
            "moves_per_minute": self.moves_per_minute,
            "jobs": self.jobs_at_start,
            "looked_at": self.looked_at,
            "moved": self.moved,
            "fraction": round(self.progress.fraction, 4),
        }
