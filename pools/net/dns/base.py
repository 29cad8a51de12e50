"""The interface of every resolver, and the resolver of fixed addresses."""

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from pools.logic.backends import Backend, is_address, static_backend
from pools.logic.errors import InvalidInput, ResolutionError
from pools.logic.numbers import check_count, check_port
from pools.net.runtime.driver import Driver
from pools.net.runtime.events import Emitter
from pools.net.runtime.fork import renew_after_fork
from pools.net.runtime.threads import ThreadDriver, default_driver


class Resolver(Emitter):
    """Track the backends of a name. Events: added(key, backend), removed(key), updated(error).

    A resolver of your own overrides `start` and `stop`, calls those of this class, and tells what
    it finds, from any thread, with `publish` and `fail`.
    """

    def __init__(self, driver: Driver | None = None) -> None:
        super().__init__()
        self.driver = driver or default_driver()
        self._state = "stopped"
        self._published: dict[str, Backend] = {}
        self._error: Exception | None = None
        renew_after_fork(self)

    @property
    def state(self) -> str:
        return self._state

    def start(self) -> None:
        """Begin; the first `publish` or `fail` decides between running and failed."""
        if self._state == "stopped":
            self._enter("starting")

    def stop(self) -> None:
        """Stop; no event follows but those of the state."""
        if self._state in ("starting", "running", "failed"):
            self._published = {}
            self._enter("stopping")
            self._enter("stopped")

    def publish(self, backends: Iterable[Backend | Mapping[str, Any]]) -> None:
        """Announce what differs from the last time; `backends` is the whole list."""
        if self._state in ("stopping", "stopped"):
            return
        new = {b.key: b for b in (_as_backend(i, each) for i, each in enumerate(backends))}
        old, self._published, self._error = self._published, new, None
        for key in old.keys() - new.keys():
            self.emit("removed", key)
        for key, backend in new.items():
            if old.get(key) != backend:
                self.emit("added", key, backend)
        self.emit("updated", None)
        if self._state != "running":
            self._enter("running")

    def fail(self, error: Exception | str) -> None:
        """Report that nothing new is known; backends that were published stay."""
        self._error = ResolutionError(error) if isinstance(error, str) else error
        self.emit("updated", self._error)
        if self._state == "starting":
            self._enter("failed")

    def list(self) -> dict[str, Backend]:
        return dict(self._published)

    def count(self) -> int:
        return len(self.list())

    @property
    def last_error(self) -> Exception | None:
        return self._error

    def get_last_error(self) -> Exception | None:
        return self.last_error

    def resolve_now(self) -> None:
        """Look again as soon as the rate limit allows."""

    def close(self) -> None:
        self.stop()

    def after_fork(self) -> None:
        super().after_fork()
        if isinstance(self.driver, ThreadDriver):
            self.driver = default_driver()

    def _enter(self, state: str) -> None:
        self._state = state
        self.emit("state", state)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.state}, {len(self._published)} backends>"


class StaticIpResolver(Resolver):
    """`backends` are mappings with an address and, unless `default_port` is given, a port."""

    def __init__(
        self,
        backends: Iterable[Mapping[str, Any]],
        default_port: int | None = None,
        driver: Driver | None = None,
    ) -> None:
        super().__init__(driver)
        parsed = [_backend(i, item, default_port) for i, item in enumerate(_listed(backends))]
        self._backends = {backend.key: backend for backend in parsed}

    def start(self) -> None:
        if self._state == "stopped":
            self._state = "starting"
            self.driver.call_soon(self._announce)

    def stop(self) -> None:
        if self._state in ("starting", "running"):
            self._state = "stopped"
            self._published = {}
            for state in ("stopping", "stopped"):
                self.driver.call_soon(lambda entered=state: self.emit("state", entered))  # type: ignore[misc]

    def after_fork(self) -> None:
        super().after_fork()
        if self._state == "starting":
            self.driver.call_soon(self._announce)

    def _announce(self) -> None:
        if self._state == "starting":
            self._state = "running"  # the backends are listed from now on
            self.publish(self._backends.values())
            self.emit("state", "running")


def _listed(backends: Any) -> Iterable[Any]:
    if isinstance(backends, str | bytes | Mapping) or not isinstance(backends, Iterable):
        raise TypeError(f"backends must be a list of mappings, not {type(backends).__name__}")
    return backends


def _as_backend(index: int, item: Any) -> Backend:
    return item if isinstance(item, Backend) else _backend(index, item, None)


def _backend(index: int, item: Mapping[str, Any], default_port: int | None) -> Backend:
    where = f"backends[{index}]"
    if not isinstance(item, Mapping):
        raise TypeError(f"{where} must be a mapping with address and port, not {item!r}")
    address, port = item.get("address"), item.get("port", default_port)
    if not isinstance(address, str) or not is_address(address):
        raise InvalidInput(f"{where}.address must be an IP address: {address!r}")
    check_port(f"{where}.port", port)
    name, ranks = item.get("name"), (item.get("priority", 0), item.get("weight", 0))
    if name is not None and not isinstance(name, str):
        raise InvalidInput(f"{where}.name must be a text: {name!r}")
    check_count(f"{where}.priority", ranks[0])
    check_count(f"{where}.weight", ranks[1])
    return static_backend(address, port, name, *ranks)
