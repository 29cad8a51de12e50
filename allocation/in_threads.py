"""Run what talks to the database in threads of our own, so that an event loop is never blocked.

Each thread keeps its own database connection, as the threads of the web server do. An operation
sees the caller's actor. Who is cancelled does not stop it: the thread brings it to its end.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.db import close_old_connections, connections

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 8  # and so many database connections of a process, at most

_pool: ThreadPoolExecutor | None = None
_used: dict[int, Any] = {}  # connections of these threads


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
