"""Connections that many users share: one per backend, announced when they come and go."""

from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from pools.logic.errors import ClaimHandleMisusedError
from pools.logic.numbers import check_count
from pools.logic.pool.actions import Advertise, PoolAction, Revoke, Withdraw
from pools.logic.pool.connection_set import SetMachine
from pools.net.pool.asyncio import until
from pools.net.pool.options import SetOptions, check_names
from pools.net.pool.shell import PoolShell

if TYPE_CHECKING:
    from pools.logic.pool.slot import Slot


class ConnectionSet(PoolShell):
    """Take the options of a pool, with `target` instead of `spares`.

    Events: added(ckey, connection, handle), and removed(ckey, connection, handle), after which the
    user finishes what is under way and calls handle.release().
    """

    machine_class = SetMachine
    kang_type = "set"
    machine: SetMachine

    def __init__(self, *, target: int | None = None, **options: Unpack[SetOptions]) -> None:
        self._handles: dict[str, SetHandle] = {}
        check_names(type(self), options, SetOptions.__annotations__)
        super().__init__(spares=check_count("target", target), **options)

    def set_target(self, target: int) -> None:
        check_count("target", target)
        self.call_locked(partial(self._set_target, target))

    def _set_target(self, target: int) -> None:
        with self._lock:
            self.machine.set_target(target)
        self.go_on()

    def get_connections(self) -> dict[str, Any]:
        """Return what is announced and not withdrawn."""
        with self._lock:
            handles = {k: h for k, h in self._handles.items() if not h.is_withdrawn}
            return {ckey: handle.slot.connection for ckey, handle in handles.items()}

    def after_fork(self) -> None:
        self._handles = {}
        super().after_fork()

    async def aclose(self, timeout: float | None = None) -> None:
        """Close a set whose driver is `asyncio_driver()`, and wait for the end."""
        self.stop(drain=0)
        await until(self, "stopped", timeout=None if timeout is None else timeout * 1000.0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _is_announced(self, action: PoolAction) -> bool:
        match action:
            case Advertise(ckey, slot):
                handle = self._handles[ckey] = SetHandle(self, slot)
                self._emit_later("added", ckey, slot.connection, handle)
                return True
            case Withdraw(ckey, slot):
                handle = self._handles[ckey]
                handle.is_withdrawn = True
                self._emit_later("removed", ckey, slot.connection, handle)
                return True
            case Revoke(ckey, _):
                self._handles.pop(ckey, None)
                return True
        return super()._is_announced(action)

    def _emit_later(self, event: str, ckey: str, connection: Any, handle: "SetHandle") -> None:
        self.driver.call_soon(lambda: self.emit(event, ckey, connection, handle))


class SetHandle:
    def __init__(self, connections: ConnectionSet, slot: "Slot") -> None:
        self.slot = slot
        self.is_withdrawn = False
        self._connections = connections
        self._ckey = slot.holder

    def release(self) -> None:
        """Release a connection that was withdrawn and is not needed any more."""
        if not self.is_withdrawn:
            raise ClaimHandleMisusedError("only a withdrawn connection can be released")
        self._end()

    def close(self) -> None:
        """Close a useless connection; no event follows, but the set opens another."""
        self._end()

    def _end(self) -> None:
        self._connections.call_locked(self._end_locked)

    def _end_locked(self) -> None:
        owner = self._connections
        with owner._lock:
            if owner._handles.pop(self._ckey, None) is None:
                return
            if self.is_withdrawn:
                owner.machine.release(self.slot, owner.now(), None)
            else:
                owner.machine.discard(self.slot, owner.now())
        owner.go_on()
