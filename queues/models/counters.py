"""What a queue did in each minute and hour, so that charts never read raw rows."""

from django.db import models

from queues.models.queue import Queue

# Upper bounds in ms of the columns wait_0 … and run_0 …; the last has none.
BOUNDS_MS = (10, 100, 1_000, 10_000, 60_000)


class Counts(models.Model):
    """How many jobs were pushed, started and ended, and how long they waited and ran."""

    pushed = models.PositiveIntegerField(default=0)
    started = models.PositiveIntegerField(default=0)
    complete = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    retried = models.PositiveIntegerField(default=0)
    wait_ms = models.BigIntegerField(default=0)
    run_ms = models.BigIntegerField(default=0)
    wait_0 = models.PositiveIntegerField(default=0)
    wait_1 = models.PositiveIntegerField(default=0)
    wait_2 = models.PositiveIntegerField(default=0)
    wait_3 = models.PositiveIntegerField(default=0)
    wait_4 = models.PositiveIntegerField(default=0)
    wait_5 = models.PositiveIntegerField(default=0)
    run_0 = models.PositiveIntegerField(default=0)
    run_1 = models.PositiveIntegerField(default=0)
    run_2 = models.PositiveIntegerField(default=0)
    run_3 = models.PositiveIntegerField(default=0)
    run_4 = models.PositiveIntegerField(default=0)
    run_5 = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


class MinuteCount(Counts):
    queue = models.ForeignKey(Queue, models.CASCADE, related_name="minutes", db_index=False)
    minute = models.DateTimeField()

    class Meta:
        ordering = ["queue", "minute"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "minute"], name="minute_count_once"),
        ]
        indexes = [models.Index(fields=["minute"], name="minute_count_by_minute")]

    def __str__(self) -> str:
        return f"{self.queue_id} {self.minute:%H:%M}"


class HourCount(Counts):
    """The sum of sixty minutes that are over: a week of minutes would be too much to read."""

    queue = models.ForeignKey(Queue, models.CASCADE, related_name="hours", db_index=False)
    hour = models.DateTimeField()

    class Meta:
        ordering = ["queue", "hour"]
        constraints = [models.UniqueConstraint(fields=["queue", "hour"], name="hour_count_once")]
        indexes = [models.Index(fields=["hour"], name="hour_count_by_hour")]

    def __str__(self) -> str:
        return f"{self.queue_id} {self.hour:%Y-%m-%d %H}"
