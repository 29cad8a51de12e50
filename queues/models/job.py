"""One row for each queued job, from push to the end; the row is the truth."""

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from atributo_site.core.models.fields import IdField
from atributo_site.core.models.rows import QuickRows
from queues.logic.backoff import DEFAULT_MS
from queues.logic.lifecycle import Status
from queues.logic.ranks import (
    BLOCKED,
    CALLBACK,
    FIRST_BLOCKED,
    FLOW,
    LINE,
    PAUSED,
    RANKS,
    SHARED_RANKS,
    STICKY_RANKS,
    is_blocked,
    shared_rank,
)
from queues.models.queue import Queue, Slot

WAITING = Q(status="pending", slot__isnull=True)
RESERVED = Q(status="pending", slot__isnull=False)
STICKY = Q(sticky_key__isnull=False)
# In words, because SQLite takes a partial index only where its condition stands in the query.
STICKY_WAITING = (
    "queues_queuedjob.status = 'pending' AND queues_queuedjob.slot_id IS NULL "
    "AND queues_queuedjob.sticky_key IS NOT NULL"
)
IN_FLOW = Q(flow_id__isnull=False)
REPEATING = Q(ended_at__isnull=True) & ~Q(repeat_times=0)
AWAKE = Q(paused_at__isnull=True)
IS_BLOCKED = Q(rank__gte=FIRST_BLOCKED)
ANYBODYS_RANKS = (RANKS[0], RANKS[-1])
OWN_RANKS = (STICKY_RANKS[0], STICKY_RANKS[-1])  # of sticky jobs that may start
UNFINISHED = [Status.PENDING, Status.PROGRESS]
CHOICES = [(status.value, status.value) for status in Status]


def _plus(offset: int, ranks: tuple[int, int]) -> tuple[int, int]:
    return ranks[0] + offset, ranks[1] + offset


def _ranks(offset: int) -> Q:
    """Return the ranks of jobs that may be pushed, each with this offset."""
    anybodys, own = _plus(offset, ANYBODYS_RANKS), _plus(offset, OWN_RANKS)
    return (
        Q(AWAKE, rank__range=anybodys, sticky_key__isnull=True)
        | Q(AWAKE, rank__range=own, sticky_key__isnull=False)
        | Q(AWAKE, SERIAL, rank__range=_plus(LINE, own))
        | Q(~AWAKE, rank__range=_plus(PAUSED, anybodys), sticky_key__isnull=True)
        | Q(~AWAKE, rank__range=_plus(PAUSED, own), sticky_key__isnull=False)
        | Q(~AWAKE, SERIAL, rank__range=_plus(PAUSED + LINE, own))
        | Q(AWAKE, IN_FLOW, rank__range=_plus(FLOW, anybodys))
        | Q(~AWAKE, IN_FLOW, rank__range=_plus(FLOW + PAUSED, anybodys))
    )


SERIAL = Q(sticky_key__isnull=False, concurrent=False)
# A paused job keeps the turn while its run is under way.
WITH_TURN = (
    Q(rank__range=OWN_RANKS)
    | Q(rank__range=_plus(PAUSED, OWN_RANKS))
    | Q(rank__range=_plus(FLOW, ANYBODYS_RANKS))
    | Q(rank__range=_plus(FLOW + PAUSED, ANYBODYS_RANKS))
)


def default_back_off() -> int:
    return DEFAULT_MS


class QueuedJobQuerySet(models.QuerySet):
    def visible(self) -> "QueuedJobQuerySet":
        """Leave out callbacks, which are jobs of their own that no list shows."""
        return self.filter(parent=None)

    def awake(self) -> "QueuedJobQuerySet":
        return self.filter(AWAKE)

    def of_script(self, mount: str, name: str) -> "QueuedJobQuerySet":
        return self.filter(mount=mount, script=name)

    def waiting(self) -> "QueuedJobQuerySet":
        return self.filter(WAITING)

    def shared(self) -> "QueuedJobQuerySet":
        """Select jobs that any worker may run."""
        return self.filter(rank__in=SHARED_RANKS)

    def due(self) -> "QueuedJobQuerySet":
        return self.waiting().filter(due_at__lte=Now())

    def waiting_at(self, instance_id: str | None) -> "QueuedJobQuerySet":
        """Select sticky jobs with this route; None: those that have none yet."""
        return self.filter(routed_to=instance_id).extra(where=[STICKY_WAITING])  # type: ignore  # nosec B610 # a constant condition

    def overdue(self) -> "QueuedJobQuerySet":
        """Select jobs that wait, have never started and may not start any more."""
        return self.waiting().filter(expires_at__lte=Now(), attempt=0)

    def reserved(self) -> "QueuedJobQuerySet":
        """Select jobs that a worker holds and may begin before their row says so."""
        return self.filter(RESERVED)

    def blocked(self) -> "QueuedJobQuerySet":
        """Select jobs that wait for the end of others."""
        return self.waiting().filter(IS_BLOCKED)

    def unfinished(self) -> "QueuedJobQuerySet":
        return self.filter(status__in=UNFINISHED)

    def by_due_time(self) -> "QueuedJobQuerySet":
        return self.order_by("due_at", "id")


class QueuedJob(QuickRows):
    id = models.BigIntegerField(primary_key=True)
    queue = models.ForeignKey(Queue, models.PROTECT, related_name="jobs", db_index=False)
    mount = models.CharField(max_length=255, blank=True)
    script = models.CharField(max_length=255)
    data = models.JSONField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)
    status = models.CharField(max_length=8, choices=CHOICES, default=Status.PENDING.value)
    rank = models.SmallIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    pushed_by = models.CharField(max_length=255, default="", blank=True)

    # Held by a slot: reserved while pending, started while in progress.
    # Slots are never removed, and a check per reservation would be felt.
    slot = models.ForeignKey(
        Slot,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="jobs",
        db_index=False,
        db_constraint=False,
    )
    slot_epoch = models.BigIntegerField(null=True, blank=True)
    suspect = models.BooleanField(default=False)

    attempt = models.PositiveIntegerField(default=0)
    runs = models.PositiveIntegerField(default=0)
    run_failures = models.PositiveIntegerField(default=0)
    lost = models.PositiveSmallIntegerField(default=0)
    resets = models.PositiveIntegerField(default=0, db_default=0)  # each allows one more run

    max_failures = models.IntegerField(default=0)
    repeat_times = models.IntegerField(default=0)
    repeat_until = models.DateTimeField(null=True, blank=True)
    repeat_delay_ms = models.BigIntegerField(default=0)
    back_off = models.JSONField(default=default_back_off, blank=True)
    timeout_ms = models.BigIntegerField(null=True, blank=True)
    success = models.JSONField(null=True, blank=True)
    failure = models.JSONField(null=True, blank=True)
    unique_key = models.CharField(max_length=255, null=True, blank=True)

    # A job that has not started by this moment never does: it ends as expired.
    expires_at = models.DateTimeField(null=True, blank=True)
    expired_at = models.DateTimeField(null=True, blank=True)

    # What flow control decides about: the flow that it waits in, limits of its own push, and the
    # instance or host that holds it.
    flow_key = models.CharField(max_length=255, null=True, blank=True)
    flow_id = models.BigIntegerField(null=True, blank=True)
    limits = models.JSONField(null=True, blank=True)
    ran_on = models.CharField(max_length=255, null=True, blank=True)

    # A repeating job that is paused keeps its moment; its rank is one that no worker asks for.
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.CharField(max_length=255, db_default="", default="", blank=True)
    pause_reason = models.CharField(max_length=255, db_default="", default="", blank=True)

    # A sticky job runs at the instance that its key is allocated to. The route says which that
    # was when somebody last looked; a job whose route is out of date does not start.
    sticky_key = IdField(null=True, blank=True)
    routed_to = IdField(null=True, blank=True)
    routed_epoch = models.BigIntegerField(null=True, blank=True)
    # It neither waits for other jobs of its key nor keeps them waiting.
    concurrent = models.BooleanField(default=False, db_default=False)

    # The batch that it belongs to. Whether that batch, or other jobs, wait for its end is read with
    # its end. A blocked job is due in another age; `delayed_until` keeps the moment of its push.
    batch = models.ForeignKey(
        "queues.Batch",
        models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="jobs",
        db_index=False,
        db_constraint=False,
    )
    awaited = models.BooleanField(default=False, db_default=False)
    delayed_until = models.DateTimeField(null=True, blank=True)

    # A callback is a job of its own: at most one per finished run of its parent.
    parent = models.BigIntegerField(null=True, blank=True)
    parent_run = models.PositiveIntegerField(null=True, blank=True)

    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    aborted_at = models.DateTimeField(null=True, blank=True)
    # Of a job that a worker has reserved: whoever gives it back or ends it aborts it then.
    abort_asked_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    fingerprint = models.CharField(max_length=16, default="", blank=True)

    objects = QueuedJobQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(
                fields=["queue", "rank", "due_at", "id"], condition=WAITING, name="job_waiting"
            ),
            models.Index(
                fields=["id", "due_at", "parent", "paused_at"],
                condition=WAITING,
                name="job_waiting_by_id",
            ),
            models.Index(
                fields=["routed_to", "queue", "rank", "due_at", "id"],
                condition=WAITING & STICKY,
                name="job_waiting_routed",
            ),
            models.Index(fields=["sticky_key", "slot"], condition=STICKY, name="job_by_sticky_key"),
            models.Index(
                fields=["sticky_key", "queue", "rank", "due_at", "id"],
                condition=WAITING & SERIAL,
                name="job_waiting_by_key",
            ),
            models.Index(fields=["slot"], condition=Q(slot__isnull=False), name="job_held_by_slot"),
            models.Index(
                fields=["status", "id", "parent"],
                condition=Q(status__in=["progress", "complete", "failed"]),
                name="job_begun_by_status",
            ),
            models.Index(
                fields=["id", "parent"],
                condition=Q(status="failed", aborted_at__isnull=True, expired_at__isnull=True),
                name="job_failed_by_itself",
            ),
            models.Index(
                fields=["id", "parent"],
                condition=Q(expired_at__isnull=False),
                name="job_expired",
            ),
            models.Index(
                fields=["expires_at"],
                condition=WAITING & Q(expires_at__isnull=False),
                name="job_expires",
            ),
            models.Index(
                fields=["id", "parent"],
                condition=Q(aborted_at__isnull=False),
                name="job_aborted",
            ),
            models.Index(
                fields=["queue", "ended_at"],
                condition=Q(status__in=["complete", "failed"]),
                name="job_ended",
            ),
            models.Index(
                fields=["ended_at", "id"], condition=Q(ended_at__isnull=False), name="job_by_end"
            ),
            models.Index(
                fields=["fingerprint", "id"],
                condition=Q(status="failed"),
                name="job_by_fingerprint",
            ),
            # What follows the id is there to be compared without a look at the row. Complete
            # jobs are the most of any script, and the newest of them are found without an index.
            models.Index(
                fields=["mount", "script", "id", "status", "parent"], name="job_by_script"
            ),
            models.Index(
                fields=["mount", "script", "status", "id", "due_at", "parent", "paused_at"],
                condition=Q(status__in=["pending", "progress", "failed"]),
                name="job_by_script_and_status",
            ),
            models.Index(
                fields=["flow_id", "rank", "due_at", "id"],
                condition=WAITING & IN_FLOW,
                name="job_waiting_in_flow",
            ),
            models.Index(
                fields=["queue", "flow_key"],
                condition=Q(slot__isnull=False) & IN_FLOW,
                name="job_held_in_flow",
            ),
            models.Index(fields=["created_at"], name="job_by_push"),
            models.Index(
                fields=["batch", "status", "id"],
                condition=Q(batch__isnull=False),
                name="job_of_batch",
            ),
            models.Index(fields=["id"], condition=WAITING & IS_BLOCKED, name="job_blocked"),
            models.Index(fields=["due_at", "id"], condition=REPEATING, name="job_repeating"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "unique_key"],
                condition=Q(unique_key__isnull=False, status__in=["pending", "progress"]),
                name="job_unique_key_once",
            ),
            models.UniqueConstraint(
                fields=["parent", "parent_run"],
                condition=Q(parent__isnull=False),
                name="job_callback_once_per_run",
            ),
            models.CheckConstraint(
                condition=Q(status__in=[status.value for status in Status]),
                name="job_status_known",
            ),
            models.CheckConstraint(
                condition=Q(AWAKE, rank=CALLBACK, parent__isnull=False, sticky_key__isnull=True)
                | _ranks(0)
                | _ranks(BLOCKED),
                name="job_rank_in_range",
            ),
            models.UniqueConstraint(
                fields=["queue", "sticky_key"],
                condition=SERIAL & WITH_TURN & Q(status__in=["pending", "progress"]),
                name="job_turn_once_per_key",
            ),
            models.UniqueConstraint(
                fields=["sticky_key"],
                condition=SERIAL & Q(slot__isnull=False),
                name="job_held_once_per_key",
            ),
            models.CheckConstraint(
                condition=Q(routed_to__isnull=True, routed_epoch__isnull=True)
                | Q(routed_to__isnull=False, routed_epoch__isnull=False, sticky_key__isnull=False),
                name="job_route_whole",
            ),
            models.CheckConstraint(
                condition=Q(slot__isnull=True)
                | Q(sticky_key__isnull=True)
                | Q(routed_to__isnull=False),
                name="job_sticky_held_by_route",
            ),
            models.CheckConstraint(
                condition=Q(status="pending")
                | Q(status="progress", slot__isnull=False)
                | Q(status__in=["complete", "failed"], slot__isnull=True, ended_at__isnull=False),
                name="job_state_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.mount}/{self.script}"

    def get_absolute_url(self) -> str:
        return reverse("atributo:job", args=[str(self.pk)])

    @property
    def paused(self) -> bool:
        return self.paused_at is not None

    @property
    def is_blocked(self) -> bool:
        """Whether it waits for the end of other jobs."""
        return self.status == Status.PENDING and is_blocked(self.rank)

    @property
    def starts_at(self) -> datetime:
        """The moment that its push has named, or that its next attempt is due at."""
        return (self.delayed_until or self.created_at) if self.is_blocked else self.due_at

    @property
    def priority(self) -> int:
        return 0 if self.rank == CALLBACK else -shared_rank(self.rank)

    def schema(self) -> dict[str, Any] | None:
        """Return the schema of its script as it is installed now."""
        from queues.models.service import Script

        script = Script.objects.filter(service__mount=self.mount, name=self.script).first()
        return None if script is None else script.schema
