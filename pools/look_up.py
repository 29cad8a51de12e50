"""The look-up tool: what a name resolves to, and every step on the way."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pools.errors import CannotLookUp, LookUpsBusy
from pools.logic.backends import Backend
from pools.logic.errors import InvalidInput
from pools.net.pick_resolver import resolver_for_ip_or_domain
from pools.net.resolver import Resolver
from pools.permitted import check_nameservers, default_nameservers, may_be_asked
from pools.sighting import shown_steps

MOST_AT_ONCE = 4
LONGEST_MS = 10_000
DEFAULT_TIMEOUT_MS = 2000

_places = threading.BoundedSemaphore(MOST_AT_ONCE)


@dataclass(frozen=True)
class LookedUp:
    host: str
    state: str
    error: str
    took_ms: float
    backends: list[dict[str, Any]]
    steps: list[dict[str, Any]]


def look_up(
    host: str,
    *,
    service: str = "_http._tcp",
    port: int | None = None,
    nameservers: Sequence[str] = (),
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> LookedUp:
    """One attempt at each step, all of it within a few seconds; nothing is stored."""
    began = time.monotonic()
    with _a_place(), _resolver(host, service, port, nameservers, timeout_ms) as resolver:
        state, error = _wait(resolver)
        return LookedUp(
            host=host,
            state=state,
            error=error,
            took_ms=round((time.monotonic() - began) * 1000, 1),
            backends=[_backend(backend) for backend in resolver.list().values()],
            steps=_steps(resolver),
        )


@contextmanager
def _a_place() -> Iterator[None]:
    """Each look-up occupies a thread of the web server: only so many at once."""
    if not _places.acquire(blocking=False):
        raise LookUpsBusy(f"{MOST_AT_ONCE} look-ups are under way already")
    try:
        yield
    finally:
        _places.release()


@contextmanager
def _resolver(
    host: str, service: str, port: int | None, nameservers: Sequence[str], timeout_ms: int
) -> Iterator[Resolver]:
    recovery = {"default": {"retries": 0, "timeout": timeout_ms, "delay": 0, "max_delay": 0}}
    config: dict[str, Any] = {
        "recovery": recovery,
        "service": service,
        "default_port": port or 80,
        "resolvers": list(nameservers),
        "system": default_nameservers,
        "permits": may_be_asked,
    }
    try:
        check_nameservers(nameservers)
        resolver = resolver_for_ip_or_domain(host, config)
    except InvalidInput as error:
        raise CannotLookUp(str(error)) from error
    resolver.start()
    try:
        yield resolver
    finally:
        resolver.stop()


def _wait(resolver: Resolver) -> tuple[str, str]:
    try:
        state = resolver.wait_for_state("running", "failed", timeout=LONGEST_MS)
    except TimeoutError as error:
        return resolver.state, str(error)
    return state, "" if resolver.last_error is None else str(resolver.last_error)


def _steps(resolver: Resolver) -> list[dict[str, Any]]:
    """An address needs no question; a name has its trace."""
    trace = getattr(resolver, "trace", ())
    return shown_steps(trace, trace[-1].at) if trace else []


def _backend(backend: Backend) -> dict[str, Any]:
    names = ("key", "name", "address", "port", "priority", "weight")
    return {name: getattr(backend, name) for name in names}
