"""The asynchronous names of all operations: `await ao.aallocate("job0")` and so on.

They talk to the database in threads of our own, so that an event loop is never blocked. Each thread
keeps its own database connection, as the threads of the web server do. An operation sees the
caller's actor. Who is cancelled does not stop it: the thread brings it to its end.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from django.db import close_old_connections, connections

from allocation.instances.validation import check_request
from allocation.models import Allocation
from allocation.placement.changes import EVERY_SECONDS, ChangeReader, PlacementChange
from allocation.placement.place import Allocated

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 8  # and so many database connections of a process, at most
_pool: ThreadPoolExecutor | None = None
_used: dict[int, Any] = {}  # connections of these threads


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


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call it in one of the threads, and wait for it without blocking the loop."""
    run = partial(copy_context().run, _clean, partial(call, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_threads(), run)


def close_threads() -> None:
    """End the threads and close their connections; the next call starts new ones."""
    global _pool
    pool, _pool = _pool, None
    if pool is not None:
        pool.shutdown(wait=True)
    while _used:
        _, connection = _used.popitem()
        connection.inc_thread_sharing()  # its thread is gone
        connection.close()


def _clean(call: Callable[[], T]) -> T:
    """Begin with connections that work, as a request does."""
    close_old_connections()
    try:
        return call()
    finally:
        for connection in connections.all(initialized_only=True):
            _used[id(connection)] = connection


def _threads() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(THREADS, thread_name_prefix="atributo")
    return _pool


def _forget() -> None:
    """A forked child has none of these threads, and leaves the connections to its parent."""
    global _pool
    _pool = None
    _used.clear()


os.register_at_fork(after_in_child=_forget)
