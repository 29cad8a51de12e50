"""The look-up tool: resolve a name step by step, and follow names and what changes."""

import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from atributo_site.core.errors import AtributoError
from pools.address_policy import (
    check_nameservers,
    default_floor_ms,
    default_nameservers,
    may_be_asked,
)
from pools.errors import CannotLookUp, LookUpsBusy
from pools.logic.backends import Backend
from pools.logic.errors import InvalidInput
from pools.net.dns.base import Resolver
from pools.net.dns.pick import resolver_for_ip_or_domain
from pools.watch.observations import steps_as_dicts

MOST_AT_ONCE = 4
LONGEST_MS = 10_000
DEFAULT_TIMEOUT_MS = 2000

_places = threading.BoundedSemaphore(MOST_AT_ONCE)
MOST_CHANGES = 50
MOST_NAMES = 5


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
    """Make one attempt at each step, all within a few seconds; store nothing."""
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
    """Limit the look-ups under way, as each of them occupies a thread of the web server."""
    if not _places.acquire(blocking=False):
        raise LookUpsBusy(f"{MOST_AT_ONCE} lookups are already running")
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
    """Return the trace of a name; an address needs no question."""
    trace = getattr(resolver, "trace", ())
    return steps_as_dicts(trace, trace[-1].at) if trace else []


def _backend(backend: Backend) -> dict[str, Any]:
    names = ("key", "name", "address", "port", "priority", "weight")
    return {name: getattr(backend, name) for name in names}


def begin(wishes: dict[str, Any]) -> dict[str, Any]:
    """Begin a story: plain JSON, so that a session can hold it."""
    return {
        "key": secrets.token_hex(4),
        "wishes": wishes,
        "asked_at": None,
        "found": None,
        "seen": {},
        "changes": [],
        "error": "",
    }


def with_another(stories: list[dict[str, Any]], story: dict[str, Any]) -> list[dict[str, Any]]:
    """Put the newest first; follow the same wishes once, and drop the oldest."""
    others = [each for each in stories if each["wishes"] != story["wishes"]]
    return [story, *others][:MOST_NAMES]


def go_on_with_one(stories: list[dict[str, Any]], now: datetime) -> list[dict[str, Any]]:
    """Continue only the one that was asked longest ago: several slow ones would add up."""
    if not stories:
        return []
    oldest = min(stories, key=lambda story: story["asked_at"] or "")
    return [_step(story, now) if story is oldest else story for story in stories]


def _step(story: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Keep a refusal in the story, so that the others have their turn."""
    try:
        return go_on({**story, "error": ""}, now)
    except AtributoError as refused:
        return {**story, "asked_at": now.isoformat(), "error": str(refused)}


def go_on(story: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Look up again unless the floor is not over; a failure removes nothing."""
    if not _is_due(story, now):
        return story
    result = asdict(look_up(**story["wishes"]))
    backends = {backend["key"]: _text(backend) for backend in result["backends"]}
    if result["state"] != "running":
        backends = story["seen"]
    new = [
        *_changes("removed", story["seen"], backends, now),
        *_changes("added", backends, story["seen"], now),
    ]
    changes = [*reversed(new), *story["changes"]][:MOST_CHANGES]
    news = {"found": result, "seen": backends, "changes": changes}
    return {**story, "asked_at": now.isoformat(), **news}


def _is_due(story: dict[str, Any], now: datetime) -> bool:
    if story["asked_at"] is None:
        return True
    floor = timedelta(milliseconds=default_floor_ms())
    return now - datetime.fromisoformat(story["asked_at"]) >= floor


def _changes(
    kind: str, one: dict[str, str], other: dict[str, str], now: datetime
) -> list[dict[str, str]]:
    """Return what is in the one and not in the other."""
    return [
        {"at": now.isoformat(), "kind": kind, "backend": text, "key": key}
        for key, text in one.items()
        if key not in other
    ]


def _text(backend: dict[str, Any]) -> str:
    return f"{backend['name']} {backend['address']} port {backend['port']}"
