"""A worker at its station: it keeps the instance alive, and makes it unavailable at the end."""

import time

from django.conf import settings
from django.db import IntegrityError
from django.db.models.functions import Now

from allocation.instances import availability, holds
from allocation.models import Instance
from allocation.storage.locks import roster_lock
from atributo_site.core.events import record
from atributo_site.core.ids import valid_id
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import from_now
from atributo_site.core.retry import retry_busy
from queues.models import Station
from queues.runs.reservation import Batch
from queues.runs.slots import HeldSlot, lease_seconds
from queues.runs.stations import free_slots_at, reserve_at
from queues.worker.presence import WorkerPresence

WORKER = Instance.Source.WORKER
STOPS = "its worker stops"


class Post:
    """Where one worker serves an instance. Several workers may serve the same one."""

    def __init__(self, instance_id: str, presence: WorkerPresence) -> None:
        self.instance_id = valid_id(instance_id)
        self.presence = presence
        self.takes_shared = False  # one that drains does its own jobs only
        self._is_closed = False
        self._is_held = False
        self._running = 0  # lanes that run jobs
        self._due = 0.0

    def open(self) -> None:
        """Register the instance; a person who made it unavailable is not overruled."""
        self._serve()
        self.takes_shared = retry_busy(self._register, repeatable=True)
        record("station.served", f"instance:{self.instance_id}", worker=self.presence.role)

    def keep(self, stopping: bool) -> None:
        """Renew the instance when it is time; take no new keys once the worker is to stop."""
        if stopping and not self._is_closed:
            self._close()
        if time.monotonic() < self._due:
            return
        self._serve()
        if not self._is_closed:
            self.takes_shared = self._beat()
        if self._is_held:
            self._hold()
        self._due = time.monotonic() + settings.ATRIBUTO.worker_heartbeat_ms / 1000

    def begin(self) -> None:
        """Let a run hold the instance. It holds first and looks then: no drain ends in between."""
        self._running += 1
        self._is_held = self._hold()
        if self.takes_shared:
            self.takes_shared = Instance.objects.available().filter(pk=self.instance_id).exists()

    def end(self) -> None:
        self._running -= 1
        if self._running:
            return
        self._is_held = False
        holds.release(self.instance_id, holds.RUNNING_JOB, self.presence.role)

    def reserve(self, slot: HeldSlot, count: int) -> Batch | None:
        return reserve_at(self.instance_id, slot, count, shared=self.takes_shared)

    def free_slots(self) -> list[tuple[str, int]]:
        return free_slots_at(self.instance_id, shared=self.takes_shared)

    def leave(self) -> None:
        """Make the instance unavailable if this worker is the last; the lock makes one the last."""
        with roster_lock():
            self.presence.leave()
            if self._is_served_by_others():
                return
            Station.objects.filter(pk=self.instance_id).update(served_until=Now(), is_told=False)
            self._make_unavailable()
            record("station.left", f"instance:{self.instance_id}", worker=self.presence.role)

    def _register(self) -> bool:
        return availability.make_available(
            self.instance_id, source=WORKER, lease_seconds=lease_seconds()
        )

    def _serve(self) -> None:
        seen = {"served_until": from_now(lease_seconds()), "is_told": False}
        if not Station.objects.filter(pk=self.instance_id).update(**seen):
            Station.objects.update_or_create(pk=self.instance_id, defaults=seen)

    def _beat(self) -> bool:
        """Return whether the instance is available; one that was taken for dead comes back."""
        if availability.heartbeat(self.instance_id, lease_seconds()):
            return True
        row = Instance.objects.filter(pk=self.instance_id).first()
        return self._register() if row is None or row.is_dead else False

    def _close(self) -> None:
        self.takes_shared = False
        if not self._is_served_by_others():
            self._make_unavailable()
        self._is_closed = True

    def _make_unavailable(self) -> None:
        """Make it unavailable; if a person objects, it stays until its lease is over."""
        if not availability.make_unavailable(self.instance_id, source=WORKER, reason=STOPS):
            Instance.objects.filter(pk=self.instance_id).update(lease_until=Now())

    def _is_served_by_others(self) -> bool:
        here = Lease.objects.held().filter(
            role__startswith="worker/", facts__instance=self.instance_id
        )
        return here.exclude(role=self.presence.role).exists()

    def _hold(self) -> bool:
        try:
            holds.hold(
                self.instance_id,
                holds.RUNNING_JOB,
                self.presence.role,
                seconds=lease_seconds(),
            )
        except IntegrityError:  # the instance was removed a moment ago
            self.takes_shared = False
            return False
        return True
