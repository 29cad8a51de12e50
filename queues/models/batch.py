"""Batches of jobs, and which job waits for which."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from queues.models.queue import Queue


class BatchQuerySet(models.QuerySet):
    def unfinished(self) -> "BatchQuerySet":
        return self.filter(state__in=["open", "running"])


class Batch(models.Model):
    """Jobs that belong together, and what is called once when all of them have ended."""

    class State(models.TextChoices):
        OPEN = "open"  # more jobs may come
        RUNNING = "running"
        COMPLETE = "complete"
        FAILED = "failed"  # all have ended, and some of them not well

    id = models.BigIntegerField(primary_key=True)
    name = models.CharField(max_length=255, default="", blank=True)
    queue = models.ForeignKey(Queue, models.PROTECT, related_name="batches", db_index=False)
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    done = models.JSONField(null=True, blank=True)  # called when all jobs are complete
    failed = models.JSONField(null=True, blank=True)  # called when some are not
    callback_job = models.BigIntegerField(null=True, blank=True)
    # How often its jobs were started over after its end: each end has a callback of its own.
    restarts = models.PositiveIntegerField(default=0)
    # As they were when it ended; while it runs, its jobs are counted.
    complete_jobs = models.PositiveIntegerField(default=0)
    failed_jobs = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    created_by = models.CharField(max_length=255, default="", blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = BatchQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "batches"
        indexes = [
            models.Index(fields=["id"], condition=Q(state="running"), name="batch_running"),
            models.Index(fields=["created_at"], condition=Q(state="open"), name="batch_open"),
            models.Index(
                fields=["ended_at"], condition=Q(ended_at__isnull=False), name="batch_by_end"
            ),
            models.Index(fields=["state", "id"], name="batch_by_state"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="open", closed_at__isnull=True, ended_at__isnull=True)
                | Q(state="running", closed_at__isnull=False, ended_at__isnull=True)
                | Q(
                    state__in=["complete", "failed"],
                    closed_at__isnull=False,
                    ended_at__isnull=False,
                ),
                name="batch_state_whole",
            ),
        ]

    def __str__(self) -> str:
        return self.name or str(self.pk)

    def get_absolute_url(self) -> str:
        return reverse("atributo:batch", args=[str(self.pk)])


class Dependency(models.Model):
    """A job that starts after the end of another one; either may be gone already."""

    job_id = models.BigIntegerField()
    after_id = models.BigIntegerField()
    even_if_failed = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "dependencies"
        indexes = [models.Index(fields=["after_id", "job_id"], name="dependency_by_end")]
        constraints = [
            models.UniqueConstraint(fields=["job_id", "after_id"], name="dependency_once"),
            models.CheckConstraint(
                condition=~Q(job_id=models.F("after_id")), name="dependency_on_another"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} after {self.after_id}"
