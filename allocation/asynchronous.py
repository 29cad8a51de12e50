"""The asynchronous names of all operations: `await ao.aallocate("job0")` and so on."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from allocation.in_threads import in_thread
from allocation.instances.validation import check_request
from allocation.models import Allocation
from allocation.placement.changes import EVERY_SECONDS, ChangeReader, PlacementChange
from allocation.placement.place import Allocated


class AsyncOperations:
    """Each does what its synchronous name does, in a thread with a connection of its own.

    What a subclass overrides is obeyed. A task that is cancelled does not take a change back.
    """

    # The synchronous operations, which the subclass has.
    using: str
    available: Any
    unavailable: Any
    instances: Any
    allocate: Any
    allocate_many: Any
    deallocate: Any
    deallocate_many: Any
    end_many: Any
    has_jobs: Any
    jobs: Any
    instance: Any
    allocation: Any
    position: Any
    close: Any
    _check: Any
    _closed: bool

    async def aavailable(self, instance_id: str, **options: Any) -> bool:
        return await in_thread(self.available, instance_id, **options)

    async def aunavailable(self, instance_id: str, destroyed: bool = False, **options: Any) -> bool:
        return await in_thread(self.unavailable, instance_id, destroyed, **options)

    async def ainstances(self) -> list[dict[str, Any]]:
        return await in_thread(self.instances)

    async def aallocate(self, job_id: str, *, labels: Mapping[str, str] | None = None) -> Allocated:
        return await in_thread(self.allocate, job_id, labels=labels)

    async def aallocate_many(
        self, job_ids: Iterable[str], *, labels: Mapping[str, str] | None = None
    ) -> dict[str, Allocated]:
        return await in_thread(self.allocate_many, job_ids, labels=labels)

    async def adeallocate(self, job_id: str, *, epoch: int | None = None) -> bool:
        return await in_thread(self.deallocate, job_id, epoch=epoch)

    async def adeallocate_many(self, job_ids: Iterable[str]) -> int:
        return await in_thread(self.deallocate_many, job_ids)

    async def aend_many(self, job_ids: Iterable[str]) -> dict[str, str]:
        return await in_thread(self.end_many, job_ids)

    async def ahas_jobs(self, instance_id: str) -> bool:
        return await in_thread(self.has_jobs, instance_id)

    async def ajobs(self, instance_id: str) -> list[str]:
        return await in_thread(self.jobs, instance_id)

    async def ainstance(self, job_id: str) -> str | None:
        return await in_thread(self.instance, job_id)

    async def aallocation(self, job_id: str) -> Allocation | None:
        return await in_thread(self.allocation, job_id)

    async def aposition(self) -> int:
        return await in_thread(self.position)

    async def achanges(
        self, after: int | None = None, *, every_seconds: float = EVERY_SECONDS
    ) -> AsyncIterator[PlacementChange]:
        """Follow all placements as `changes` does; leave the loop to end it."""
        self._check()
        check_request(every_seconds=every_seconds)
        reader = await in_thread(ChangeReader, self.using, after)
        while not self._closed:
            found = await in_thread(reader.read)
            for change in found:
                yield change
            if not found:
                await asyncio.sleep(reader.pause(every_seconds))

    async def aclose(self) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        self._check()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
