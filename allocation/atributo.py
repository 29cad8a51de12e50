"""The public class: allocate keys to instances, and keep them there."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

from django.conf import settings
from django.db import connections

from allocation.asynchronous import AsyncOperations
from allocation.errors import Closed
from allocation.instances import availability
from allocation.instances.validation import check_request
from allocation.logic.choose import COUNTS_LOAD, NO_LOADS, STRATEGIES, Candidate
from allocation.logic.labels import as_texts
from allocation.models import Allocation, Instance
from allocation.placement.candidates import count_ended, forget_loads, loads
from allocation.placement.changes import EVERY_SECONDS, ChangeReader, PlacementChange
from allocation.placement.chooser import Chooser, PlacementRequest
from allocation.placement.place import Allocated, place
from allocation.placement.place_many import place_many
from allocation.storage import Deallocation, store
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import current_actor
from atributo_site.core.ids import valid_id, valid_ids
from atributo_site.core.retry import retry_busy


class Atributo(AsyncOperations):
    """A job stays on its instance until it is deallocated or the instance is destroyed.

    Subclasses may override `_allocate`, or `_choose` to see labels. Objects are cheap and safe to
    share between threads.
    """

    def __init__(self, *, using: str = "default", strategy: str | None = None) -> None:
        self.using = connections[using].alias
        self.strategy = strategy or settings.ATRIBUTO.strategy
        if self.strategy not in STRATEGIES:
            raise AtributoError(f"unknown strategy {strategy!r}: one of {', '.join(STRATEGIES)}")
        own = type(self)
        custom = own._allocate is not Atributo._allocate or own._choose is not Atributo._choose
        self._chooser = Chooser(self.using, self.strategy, self._choose if custom else None)
        self._closed = False

    def available(self, instance_id: str, **options: Any) -> bool:
        """Let jobs be allocated to it from now on; return False if a person decided otherwise."""
        self._check(instance_id)
        return self._switch(availability.make_available, instance_id, **options)

    def unavailable(self, instance_id: str, destroyed: bool = False, **options: Any) -> bool:
        """Allocate no more jobs to it; if it is destroyed, drop the jobs it has."""
        self._check(instance_id)
        if destroyed:
            retry_busy(
                lambda: availability.remove(instance_id, using=self.using, **options), self.using
            )
            forget_loads(self.using)
            return True
        return self._switch(availability.make_unavailable, instance_id, **options)

    def instances(self) -> list[dict[str, Any]]:
        self._check()
        rows = Instance.objects.using(self.using).order_by("id").values_list("id", "available")
        return [{"id": key, "available": available} for key, available in rows]

    def allocate(self, job_id: str, *, labels: Mapping[str, str] | None = None) -> Allocated:
        """Return the instance of the job; choose and store one if it has none.

        The choice is among instances with these labels, now and whenever the job is moved.
        """
        self._check(job_id)
        chooser = self._asking_for(labels)
        placed = retry_busy(lambda: place(job_id, chooser), self.using, repeatable=True)
        return Allocated(*placed)

    def allocate_many(
        self, job_ids: Iterable[str], *, labels: Mapping[str, str] | None = None
    ) -> dict[str, Allocated]:
        self._check()
        wanted = valid_ids(job_ids)
        chooser = self._asking_for(labels)
        if not wanted:
            return {}
        answers = place_many(wanted, chooser)
        return {job_id: Allocated(*answers[job_id]) for job_id in wanted}

    def deallocate(self, job_id: str, *, epoch: int | None = None) -> bool:
        """Forget the instance of the job; return False if it had none (or not of this epoch)."""
        return bool(self._end([job_id], epoch))

    def deallocate_many(self, job_ids: Iterable[str]) -> int:
        """Forget the instances of these jobs; return how many had one."""
        return len(self.end_many(job_ids))

    def end_many(self, job_ids: Iterable[str]) -> dict[str, str]:
        """Forget the instances of these jobs; return job → the instance it had."""
        return self._end(job_ids, None)

    def has_jobs(self, instance_id: str) -> bool:
        self._check(instance_id)
        return Allocation.objects.using(self.using).on(instance_id).exists()

    def jobs(self, instance_id: str) -> list[str]:
        self._check(instance_id)
        rows = Allocation.objects.using(self.using).on(instance_id).order_by("job_id")
        return list(rows.values_list("job_id", flat=True))

    def instance(self, job_id: str) -> str | None:
        self._check(job_id)
        return retry_busy(lambda: store(self.using).find(job_id), self.using, repeatable=True)

    def allocation(self, job_id: str) -> Allocation | None:
        """Return the whole row: since when, by whom, why, and the epoch that fences."""
        self._check(job_id)
        return Allocation.objects.using(self.using).filter(pk=job_id).first()

    def changes(
        self, after: int | None = None, *, every_seconds: float = EVERY_SECONDS
    ) -> Iterator[PlacementChange]:
        """Follow all placements, in order and for ever; begin now, or after a position.

        It looks twice a second for new ones, and ends when the object is closed.
        """
        self._check()
        check_request(every_seconds=every_seconds)
        return self._follow(ChangeReader(self.using, after), every_seconds)

    def position(self) -> int:
        """Return the position of now: what `changes` gives after it is newer."""
        self._check()
        return ChangeReader(self.using, None).position

    def close(self) -> None:
        self._closed = True

    def __enter__(self) -> "Atributo":
        self._check()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _choose(self, request: PlacementRequest) -> tuple[str, bool]:
        """Do as `_allocate`. Override this to see the labels asked for, and those of instances."""
        return self._allocate(request.job_id, request.instance_ids)

    def _allocate(self, job_id: str, instance_ids: list[str]) -> tuple[str, bool]:
        """Return the instance for a job that has none, and whether to store it. Override this."""
        jobs = loads(self.using).jobs if self.strategy in COUNTS_LOAD else NO_LOADS
        listed = [Candidate(key) for key in instance_ids]
        return STRATEGIES[self.strategy](job_id, listed, jobs).id, True

    def _follow(self, reader: ChangeReader, every_seconds: float) -> Iterator[PlacementChange]:
        while not self._closed:
            found = reader.read()
            yield from found
            if not found:
                time.sleep(reader.pause(every_seconds))

    def _asking_for(self, labels: Mapping[str, str] | None) -> Chooser:
        if labels is None:
            return self._chooser
        check_request(labels=labels)
        return self._chooser.asking_for(as_texts(labels))

    def _end(self, job_ids: Iterable[str], epoch: int | None) -> dict[str, str]:
        self._check()
        wanted = valid_ids(job_ids)
        deallocation = Deallocation(wanted, current_actor().name, "deallocated", epoch)
        ended = (
            retry_busy(lambda: store(self.using).end(deallocation), self.using) if wanted else {}
        )
        count_ended(ended.values(), self.using)
        return ended

    def _switch(self, switch: Callable[..., bool], instance_id: str, **options: Any) -> bool:
        return retry_busy(
            lambda: switch(instance_id, using=self.using, **options), self.using, repeatable=True
        )

    def _check(self, *ids: str) -> None:
        if self._closed:
            raise Closed("this Atributo is closed")
        for value in ids:
            valid_id(value)
