"""Scripts that somebody asked to run now, at whichever worker is free first."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class ScriptRunQuerySet(models.QuerySet):
    def waiting(self) -> "ScriptRunQuerySet":
        """Select those that a worker may still begin."""
        return self.filter(state=ScriptRun.State.WAITING, begin_by__gte=Now())

    def unfinished(self) -> "ScriptRunQuerySet":
        return self.exclude(state=ScriptRun.State.ENDED)

    def held_by(self, pk: int, holder: str) -> "ScriptRunQuerySet":
        return self.filter(pk=pk, state=ScriptRun.State.RUNNING, holder=holder)


class ScriptRun(models.Model):
    """It runs once at most: a worker that dies with it ends it."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        ENDED = "ended"

    key = models.CharField(max_length=32, unique=True)
    asked_by = models.CharField(max_length=255)
    work = models.JSONField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    begin_by = models.DateTimeField()
    holder = models.CharField(max_length=255, default="", blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    is_left = models.BooleanField(default=False)  # nobody waits for the answer any more
    answer = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = ScriptRunQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["id"], condition=Q(state="waiting"), name="script_run_waiting"),
            models.Index(fields=["created_at"], name="script_run_created"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="ended", answer__isnull=False)
                | Q(~Q(state="ended"), answer__isnull=True),
                name="script_run_ended_has_answer",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.work['mount']}/{self.work['script']}"
