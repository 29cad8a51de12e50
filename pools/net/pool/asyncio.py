"""The same pools and resolvers for asyncio: coroutines connect, and claims are awaited."""

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Self, Unpack

from pools.logic.numbers import check_wait
from pools.net.pool.claim import CLAIMED, RELEASED, WAITING, BaseClaim
from pools.net.pool.options import PoolOptions
from pools.net.pool.shell import PoolShell
from pools.net.runtime.driver import Done
from pools.net.runtime.events import Emitter

Call = Callable[[], None]


class AsyncioDriver:
    """Drive on the running loop; give it to a resolver as `driver`."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.belongings: dict[type, Any] = {}
        self._loop = loop or asyncio.get_running_loop()
        self._thread = threading.get_ident()
        is_usual = getattr(type(self._loop), "time", None) is asyncio.BaseEventLoop.time
        self.clock = time.monotonic if is_usual else self._loop.time
        self._tasks: set[asyncio.Future[Any]] = set()
        self.add_reader = self._loop.add_reader
        self.add_writer = self._loop.add_writer
        self.remove_reader = self._loop.remove_reader
        self.remove_writer = self._loop.remove_writer

    def now(self) -> float:
        return self.clock() * 1000.0

    def call_soon(self, call: Call) -> None:
        if threading.get_ident() == self._thread:
            self._loop.call_soon(call)
        else:
            self._loop.call_soon_threadsafe(call)

    def call_at(self, at: float, call: Call) -> asyncio.TimerHandle:
        return self._loop.call_at(at / 1000.0, call)

    def run(self, call: Callable[[], Any], done: Done) -> Callable[[], bool]:
        """Make the call, which must not block; a coroutine that it returns becomes a task."""
        task = asyncio.ensure_future(_run(call))
        self._tasks.add(task)
        task.add_done_callback(lambda ended: self._ended(ended, done))
        return task.cancel

    def call_back(self, owner: Any, call: Call, culprit: Any) -> None:
        """Call on the loop, as everything of an asyncio pool."""
        if threading.get_ident() == self._thread:
            call()
        else:
            self._loop.call_soon_threadsafe(call)

    def _ended(self, task: "asyncio.Future[Any]", done: Done) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            result, error = task.result()
            done(result, error)


async def _run(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        result = call()
        return (await result if inspect.isawaitable(result) else result), None
    except Exception as error:  # passed to the caller
        return None, error


_drivers: dict[asyncio.AbstractEventLoop, AsyncioDriver] = {}


def asyncio_driver() -> AsyncioDriver:
    """Return the driver of the running loop, one for each."""
    loop = asyncio.get_running_loop()
    if loop not in _drivers:
        for over in [each for each in list(_drivers) if each.is_closed()]:
            _drivers.pop(over, None)
        _drivers[loop] = AsyncioDriver(loop)
    return _drivers[loop]


async def until(watched: Emitter, *states: str, timeout: float | None = None) -> str:
    """Wait until a pool or resolver is in one of the states, at most `timeout` milliseconds."""
    reached: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def entered(state: str) -> None:
        if state in states and not reached.done():
            reached.set_result(state)

    watched.on("state", entered)
    try:
        if watched.state in states:
            return watched.state
        return await asyncio.wait_for(reached, None if timeout is None else timeout / 1000.0)
    finally:
        watched.off("state", entered)


class AsyncClaim(BaseClaim):
    """Use it as `async with pool.claim(timeout=1000) as connection: …`, or await and release it."""

    __slots__ = ()

    _pool: "AsyncConnectionPool"

    async def wait(self) -> Any:
        loop = self._pool.loop  # asking for the running one costs a system call each time
        if self.state == WAITING:
            signal: asyncio.Future[None] = asyncio.Future(loop=loop)
            self._signal = signal
            try:
                await signal
            except asyncio.CancelledError:
                self.cancel()
                raise
        if self.state == CLAIMED:
            self._taker = asyncio.current_task(loop)
            return self.connection
        return self._answer()

    def release(self, ok: bool | None = True) -> None:
        """Give the connection back; `ok=False` counts against its backend.

        If a task waits, it gets the connection without the lock: only the loop gives any away.
        """
        pool, slot = self._pool, self._slot
        machine, following = pool.machine, None
        if ok and slot is not None and machine.queue.waiting and not pool.is_in_step():
            following = machine.plain.pass_on(slot, self, pool.clock() * 1000.0)
        if slot is None or following is None:
            super().release(ok)
            return
        self._slot, self.state = None, RELEASED
        if following.state == WAITING:
            following._slot, following.connection, following.state = slot, slot.connection, CLAIMED
            signal = following._signal
            if signal is not None and not signal.done():
                signal.set_result(None)
        else:  # a finalizer has cancelled it in between
            following._release(slot, None)

    def _wake(self) -> None:
        if self._signal is not None and not self._signal.done():
            self._signal.set_result(None)

    def _me(self) -> "asyncio.Task[Any] | None":
        return asyncio.current_task()

    def cancel(self) -> None:
        """Leave the queue, or release what was granted already; another thread may do so, too."""
        if threading.get_ident() == self._pool.thread:
            super().cancel()
        else:
            self._pool.loop.call_soon_threadsafe(super().cancel)

    def __await__(self) -> Generator[Any, None, Any]:
        return self.wait().__await__()

    __aenter__ = wait

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.release()
        else:
            self._leave(error)


class AsyncConnectionPool(PoolShell):
    """Make it inside a running loop; `constructor` and `checker` may be coroutines."""

    claim_class = AsyncClaim

    def __init__(self, **options: Unpack[PoolOptions]) -> None:
        driver = asyncio_driver()
        self.loop, self.thread = asyncio.get_running_loop(), threading.get_ident()
        self.clock = driver.clock
        options.setdefault("driver", driver)
        super().__init__(**options)

    async def aclose(self, timeout: float | None = None) -> None:
        """Stop at once and wait until everything is closed, at most `timeout` seconds."""
        self.stop(drain=0)
        await self.until("stopped", timeout=None if timeout is None else timeout * 1000.0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def claim(self, timeout: float | None = None, error_on_empty: bool = False) -> AsyncClaim:
        if timeout is not None:
            check_wait("timeout", timeout)
        claim = AsyncClaim(self)
        is_plain = timeout is None and not error_on_empty
        if not is_plain or not self.machine.plain.line_up(claim, self.clock):
            self._begin(claim, timeout, error_on_empty)
        return claim

    async def until(self, *states: str, timeout: float | None = None) -> str:
        return await until(self, *states, timeout=timeout)
