"""Attempts at jobs, kept with their log lines."""

from django.db import models
from django.db.models.functions import Now

from queues.logic.lifecycle import Outcome
from queues.models.job import QueuedJob


class Run(models.Model):
    job = models.ForeignKey(QueuedJob, models.CASCADE, related_name="attempts", db_index=False)
    attempt = models.PositiveIntegerField()
    number = models.PositiveIntegerField()  # which run this was an attempt at: 2 in "run 2 of 4"
    worker = models.CharField(max_length=255)
    outcome = models.CharField(
        max_length=8, choices=[(outcome.value, outcome.value) for outcome in Outcome]
    )
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    traceback = models.TextField(default="", blank=True)
    percent = models.FloatField(null=True, blank=True)
    note = models.CharField(max_length=255, default="", blank=True)

    class Meta:
        ordering = ["job", "attempt"]
        constraints = [
            models.UniqueConstraint(fields=["job", "attempt"], name="run_attempt_once"),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} attempt {self.attempt}"


class RunLog(models.Model):
    """One line that a script logged."""

    job = models.ForeignKey(QueuedJob, models.CASCADE, related_name="log", db_index=False)
    attempt = models.PositiveIntegerField()
    at = models.DateTimeField(db_default=Now())
    level = models.CharField(max_length=8)
    text = models.TextField()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["job", "attempt", "id"], name="run_log_by_attempt")]

    def __str__(self) -> str:
        return self.text
