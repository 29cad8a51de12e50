"""Keep an instance available by heartbeats while a program runs, and drain it when it leaves."""

import asyncio
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any

from atributo_client.failures import AtributoError
from atributo_client.generated import answers, bodies
from atributo_client.operation import Group, S
from atributo_client.retries import NEVER
from atributo_client.shells import AsyncShell, Shell
from atributo_client.steps import Flow, ask, part

BEATS_PER_LEASE = 4
ANSWERS_PER_LEASE = 4  # a heartbeat that hangs leaves time for the next one


class Presence(Group[S]):
    """`error` is why the last heartbeat failed, or None; the next one may do better."""

    def __init__(
        self, shell: S, instance_id: str, wish: bodies.Available, drain: bodies.DrainWish | None
    ) -> None:
        super().__init__(shell)
        self.instance_id = instance_id
        self.error: AtributoError | None = None
        self._path = f"instances/{part(instance_id)}"
        self._wish = wish
        self._drain = drain or {}
        self._lease_seconds = wish.get("lease_seconds", 0)
        if self._lease_seconds <= 0:
            raise ValueError("lease_seconds must be more than 0")
        self._pause_seconds = self._lease_seconds / BEATS_PER_LEASE
        self._stopped = threading.Event()
        self._beating: Any = None

    def _arrive(self, timeout_seconds: float | None = None) -> Flow[answers.Instance]:
        path = f"{self._path}/available"
        return ask("POST", path, self._wish, timeout_seconds=timeout_seconds)

    def _beat(self) -> Flow[None]:
        """Extend the lease; one that ended is begun anew, but nobody's wish is overruled."""
        patience = self._lease_seconds / ANSWERS_PER_LEASE
        body = {"seconds": self._lease_seconds}
        try:
            path = f"{self._path}/heartbeat"
            instance = yield from ask("POST", path, body, timeout_seconds=patience)
            if instance["state"] == "dead":
                yield from self._arrive(patience)
            self.error = None
        except AtributoError as error:
            self.error = error

    def _leave(self, error: BaseException | None) -> Flow[None]:
        try:
            yield from ask("POST", f"{self._path}/drain", self._drain)
        except AtributoError as second:
            if error is None:
                raise
            error.add_note(f"Instance {self.instance_id} was not drained: {second}")

    def __enter__(self: "Presence[Shell]") -> "Presence[Shell]":
        self._shell.run(self._arrive())
        name = f"heartbeat of {self.instance_id}"
        self._beating = threading.Thread(target=self._beat_in_thread, name=name, daemon=True)
        self._beating.start()
        return self

    def _beat_in_thread(self: "Presence[Shell]") -> None:
        while not self._stopped.wait(self._pause_seconds):
            self._shell.run(self._beat(), NEVER)

    def __exit__(
        self: "Presence[Shell]",
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._beating.join()
        self._shell.run(self._leave(error))

    async def __aenter__(self: "Presence[AsyncShell]") -> "Presence[AsyncShell]":
        await self._shell.run(self._arrive())
        self._beating = asyncio.create_task(self._beat_in_task())
        return self

    async def _beat_in_task(self: "Presence[AsyncShell]") -> None:
        while True:
            await asyncio.sleep(self._pause_seconds)
            await self._shell.run(self._beat(), NEVER)

    async def __aexit__(
        self: "Presence[AsyncShell]",
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._beating.cancel()
        with suppress(asyncio.CancelledError):
            await self._beating
        await self._shell.run(self._leave(error))
