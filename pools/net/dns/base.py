"""The interface of every resolver, and the resolver of fixed addresses."""

from collections.abc import Iterable, Mapping
from typing import Any

from pools.logic.backends import Backend, is_address, static_backend
from pools.logic.errors import InvalidInput
from pools.net.runtime.driver import Driver
from pools.net.runtime.events import Emitter
from pools.net.runtime.threads import default_driver


class Resolver(Emitter):
    """Track the backends of a name. Events: added(key, backend), removed(key), updated(error)."""

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def list(self) -> dict[str, Backend]:
        raise NotImplementedError

    def count(self) -> int:
        return len(self.list())

    @property
    def last_error(self) -> Exception | None:
        return None

    def resolve_now(self) -> None:
        """Look again as soon as the rate limit allows."""


class StaticIpResolver(Resolver):
    """`backends` are mappings with an address and, unless `default_port` is given, a port."""

    def __init__(
        self,
        backends: Iterable[Mapping[str, Any]],
        default_port: int | None = None,
        driver: Driver | None = None,
    ) -> None:
        super().__init__()
        self._driver = driver or default_driver()
        self._state = "stopped"
        parsed = [_backend(i, item, default_port) for i, item in enumerate(backends)]
        self._backends = {backend.key: backend for backend in parsed}

    @property
    def state(self) -> str:
        return self._state

    def list(self) -> dict[str, Backend]:
        return dict(self._backends) if self._state == "running" else {}

    def start(self) -> None:
        if self._state == "stopped":
            self._state = "starting"
            self._driver.call_soon(self._announce)

    def stop(self) -> None:
        if self._state in ("starting", "running"):
            self._state = "stopped"
            for state in ("stopping", "stopped"):
                self._driver.call_soon(lambda entered=state: self._emit("state", entered))  # type: ignore[misc]

    def _announce(self) -> None:
        if self._state != "starting":
            return
        self._state = "running"
        for key, backend in self._backends.items():
            self._emit("added", key, backend)
        self._emit("updated", None)
        self._emit("state", "running")


def _backend(index: int, item: Mapping[str, Any], default_port: int | None) -> Backend:
    where = f"backends[{index}]"
    address, port = item.get("address"), item.get("port", default_port)
    if not isinstance(address, str) or not is_address(address):
        raise InvalidInput(f"{where}.address must be an IP address: {address!r}")
    if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:
        raise InvalidInput(f"{where}.port must be a number from 1 to 65535: {port!r}")
    return static_backend(address, port)
