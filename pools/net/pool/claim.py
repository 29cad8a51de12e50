"""A claim is first a place in the queue, then a lease on a connection."""

import threading
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pools.logic.errors import (
    ClaimCancelledError,
    ClaimError,
    ClaimHandleMisusedError,
    PoolError,
)
from pools.logic.pool.actions import Grant
from pools.net.pool.claim_callback import ClaimCallback

if TYPE_CHECKING:
    from pools.logic.pool.slot import Slot
    from pools.net.pool.shell import PoolShell

WAITING, CLAIMED, RELEASED, CLOSED = "waiting", "claimed", "released", "closed"
FAILED, CANCELLED, REVOKED = "failed", "cancelled", "revoked"
SOCKET_WORDS = {"send", "sendall", "recv", "read", "write", "fileno", "makefile", "request"}
CALLBACK = object()


class BaseClaim:
    """What claims of both kinds do; all of it happens under the pool's lock or once."""

    __slots__ = (
        "_callback",
        "_pool",
        "_signal",
        "_slot",
        "_taker",
        "connection",
        "error",
        "place",
        "state",
    )

    def __init__(self, pool: "PoolShell") -> None:
        self._pool = pool
        self.state = WAITING
        self._slot: Slot | None = None
        self._callback: ClaimCallback | None = None
        self._taker: Any = None  # who holds the connection
        self._signal: Any = None  # an event or a future, if somebody waits
        self.connection: Any = None
        self.error: Exception | None = None
        self.place: str | None = None

    def release(self, ok: bool | None = True) -> None:
        """Give the connection back; `ok=False` counts against its backend."""
        pool, slot = self._pool, self._slot
        machine = pool.machine
        if slot is None or slot.holder is not self:
            self._misused("released")
            return
        is_plain = ok and not machine.queue.waiting
        is_back = machine.plain.put(slot, self, pool.now) if is_plain else None
        if is_back is None:
            if pool.is_in_step():
                pool.call_locked(partial(self._release, slot, ok))
            else:
                self._release(slot, ok)
        elif is_back:
            self._slot, self.state = None, RELEASED
            if machine.plain.is_unsettled(slot):
                pool.call_locked(partial(self._settle, slot))
        else:
            self._misused("released")

    def _release(self, slot: "Slot", ok: bool | None) -> None:
        pool = self._pool
        with pool._lock:
            machine, now = pool.machine, pool.now()
            following = machine.plain.pass_on(slot, self, now) if ok else None
            if following is None and not slot.end_lease(self):
                self._misused("released")
                return
            self._slot, self.state = None, RELEASED
            if following is not None:
                following.granted(slot)
                following._wake()
                return
            machine.release(slot, now, ok)
            if not machine.wants_tick and _hand_over(machine.actions):
                return
        pool.go_on()

    def _settle(self, slot: "Slot") -> None:
        pool = self._pool
        with pool._lock:
            pool.machine.settle(slot, pool.now())
        pool.go_on()

    def close(self, ok: bool | None = None, is_open: bool = False) -> None:
        """Give the connection back to be closed; the pool opens another in its place.

        `ok=False` counts against its backend, as an attempt to connect, too, if the connection did
        not last; not so if it `is_open` and only what went over it failed.
        """
        slot = self._slot
        if slot is None or slot.holder is not self:
            self._misused("closed")
            return
        self._pool.call_locked(partial(self._close, slot, ok, is_open))

    def _close(self, slot: "Slot", ok: bool | None, is_open: bool = False) -> None:
        with self._pool._lock:
            if not slot.end_lease(self):
                self._misused("closed")
                return
            self._slot, self.state = None, CLOSED
            self._pool.machine.discard(slot, self._pool.now(), ok, is_open)
        self._pool.go_on()

    def close_unused(self) -> None:
        """Give back a connection that its server closed before it was used."""
        slot = self._slot
        if slot is not None:
            self._pool.call_locked(partial(self._close_unused, slot))

    def _close_unused(self, slot: "Slot") -> None:
        with self._pool._lock:
            if slot.end_lease(self):
                self._slot, self.state = None, CLOSED
                slot.doomed = slot.doomed or "closed"
                self._pool.machine.release(slot, self._pool.now(), None)
        self._pool.go_on()

    def abandon(self) -> None:
        """Close the connection soon; a finalizer may call this in the middle of anything."""
        slot = self._slot
        if slot is not None:
            try:
                self._pool.driver.call_soon(partial(self._abandoned, slot))
            except RuntimeError:  # the event loop is closed, and its connections with it
                return

    def _abandoned(self, slot: "Slot") -> None:
        if slot.holder is self:
            self._close(slot, None)

    def cancel(self) -> None:
        """Leave the queue, or release what was granted already; no callback follows.

        A connection that somebody else holds by now is closed, not lent again.
        """
        if self._callback is not None:
            self._callback.withdraw()
        self._pool.call_locked(self._cancel)

    def _cancel(self) -> None:
        with self._pool._lock:
            if self.state == WAITING:
                self._pool.machine.cancel(self)  # or else its answer is on the way
                self._cancelled(CANCELLED)
                self._wake()
                return
            slot, self._slot = self._slot, None
            if slot is None or not slot.end_lease(self):
                return
            self._give_up(slot)
        self._pool.go_on()

    def _give_up(self, slot: "Slot") -> None:
        """Run under the lock; `_taker` is set before the state is read, so it is known here."""
        machine, now = self._pool.machine, self._pool.now()
        if self._taker in (None, self._me()):
            self._cancelled(RELEASED if self._taker else CANCELLED)
            machine.release(slot, now, None)
        else:
            self._cancelled(REVOKED)
            machine.discard(slot, now)

    def _cancelled(self, state: str) -> None:
        self.state = state
        self.error = ClaimCancelledError("the claim was cancelled")

    def _answer(self) -> Any:
        """Return the connection while it is held; after its return it may be somebody else's."""
        self._taker = self._me()
        if self.state == CLAIMED:
            return self.connection
        if self.error is not None:
            raise self.error
        raise ClaimHandleMisusedError(f"a claim that is {self.state} has no connection")

    def _misused(self, action: str) -> None:
        if self.state == REVOKED:
            return
        raise ClaimHandleMisusedError(f"a claim that is {self.state} can not be {action}")

    # -- called by the pool ------------------------------------------------------------------

    def granted(self, slot: "Slot") -> None:
        self._slot = slot
        self.connection = slot.connection
        self.state = CLAIMED

    def answered(self, slot: "Slot | None", error: Exception | None) -> None:
        """Store the machine's decision and wake the waiting thread."""
        with self._pool._lock:
            if self.state == WAITING:
                self._accept(slot, error)
                return
            if slot is None or not slot.end_lease(self):
                return
            self._pool.machine.release(slot, self._pool.now(), None)  # cancelled meanwhile
        self._pool.go_on()

    def _accept(self, slot: "Slot | None", error: Exception | None) -> None:
        if slot is not None:
            self.granted(slot)
        else:
            self.state = FAILED
            self.error = error
        self._wake()

    def revoked(self, reason: str) -> None:
        with self._pool._lock:
            is_late = self.state == WAITING  # the answer on its way does not count any more
            self.state = FAILED if is_late else REVOKED
            self._slot = None
            self.error = ClaimError(f"the connection was taken away: {reason}")
            if is_late:
                self._wake()

    def left_behind(self) -> None:
        """End a claim of the parent in a forked child, where its connection is not ours."""
        self._slot, self.connection, self.state = None, None, REVOKED
        self.error = ClaimError("the connection belongs to the process that was forked")

    def _wake(self) -> None:
        raise NotImplementedError

    def _me(self) -> Any:
        raise NotImplementedError

    def _report(self) -> None:
        if self._callback is not None:
            callback, driver = self._callback, self._pool.driver
            call = partial(callback.call, self._arguments)
            driver.call_soon(partial(driver.call_back, self._pool, call, callback.callback))

    def _arguments(self) -> tuple[Any, ...] | None:
        """Return what a callback gets; nothing for a claim that its owner has ended."""
        with self._pool._lock:
            if self.state == CLAIMED:
                self._taker = CALLBACK
                return None, self, self.connection
            return (self.error,) if self.state in (FAILED, REVOKED) else None

    def _leave(self, error: BaseException | None) -> None:
        """End a with block: only failures of the network count against the backend."""
        if error is None:
            self.release()
        elif self._slot is not None:
            # a claim that timed out inside, of this pool or another, is an OSError, too
            is_network = isinstance(error, OSError | EOFError) and not isinstance(error, PoolError)
            self.close(False if is_network else None, is_open=isinstance(error, TimeoutError))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.state} of {self._pool!r}>"

    def __getattr__(self, name: str) -> Any:
        if name in SOCKET_WORDS:
            raise ClaimHandleMisusedError(f"a handle has no {name}(); use its connection")
        raise AttributeError(name)


def _hand_over(actions: list[Any]) -> bool:
    """Shorten the usual ends of a release: nobody waits, or one claim gets the connection."""
    if not actions:
        return True
    if len(actions) > 1 or type(actions[0]) is not Grant:
        return False
    grant = actions.pop()
    grant.holder.answered(grant.slot, None)
    return True


class Claim(BaseClaim):
    """Use it as `with pool.claim(timeout=1000) as connection: …`, or call wait() and release()."""

    __slots__ = ()

    @classmethod
    def at_once(cls, pool: "PoolShell") -> "Claim | None":
        """Return a claim that has its connection already; None if it must take its turn."""
        claim = cls(pool)
        machine = pool.machine
        slot = machine.plain.take(claim)
        if slot is None:
            return None
        claim._slot = slot
        claim.connection = slot.connection
        claim.state = CLAIMED
        if machine.wants_more:
            pool.call_locked(pool._want_more)
        return claim

    def wait(self) -> Any:
        """Block until there is an answer; return the connection or raise the error."""
        if self.state == WAITING:
            try:
                self._wait()
            except BaseException:  # a signal: nobody waits for this claim any more
                self.cancel()
                raise
        return self._answer()

    def _wait(self) -> None:
        with self._pool._lock:
            if self.state == WAITING and self._signal is None:
                self._signal = threading.Event()
        if self._signal is not None:
            self._signal.wait()

    def _wake(self) -> None:
        if self._signal is not None:
            self._signal.set()
        self._report()

    def _me(self) -> int:
        return threading.get_ident()

    def __enter__(self) -> Any:
        if self.state == CLAIMED:
            self._taker = threading.get_ident()
            return self.connection
        return self.wait()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.release()
        else:
            self._leave(error)
