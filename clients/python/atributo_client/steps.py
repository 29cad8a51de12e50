"""What a call does, without doing it: requests, pauses and the flows that are made of them.

A flow is a generator. It yields a Request or a Pause, and the shells (`shells.py`) carry it out,
with or without `await`. So every call is written once.
"""

import json
import uuid
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import quote, urlsplit

T = TypeVar("T")

API = "/api/v1/"
KEY = "Idempotency-Key"
NOTHING: Any = object()  # a body that is left out; None is the JSON value null
CONDITIONS = {"If-Match", "If-None-Match"}


@dataclass(frozen=True)
class Request:
    """One HTTP request; its retries send the same bytes and the same key."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float | None = None

    @property
    def is_read(self) -> bool:
        return self.method == "GET"

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be sent again after its answer was lost.

        With a condition it may not: the first one may have made the condition false.
        """
        if self.method == "POST":
            return KEY in self.headers
        return self.is_read or (self.method == "PUT" and not CONDITIONS & set(self.headers))


@dataclass(frozen=True)
class Pause:
    """Wait for so long."""

    seconds: float


@dataclass(frozen=True)
class Answer:
    """What the site answered; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content) if self.content else None


Step: TypeAlias = Request | Pause
Flow: TypeAlias = Generator[Step, Any, T]


@dataclass(frozen=True)
class PageOf(Generic[T]):
    """A page of a list; `client.every(page)` reads on to the end."""

    results: list[T]
    next: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)


def ask(
    method: str,
    path: str,
    body: Any = NOTHING,
    *,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    key: str | None = None,
    timeout_seconds: float | None = None,
) -> Flow[Any]:
    """Send one request and return the JSON of its answer; "" as the key of a POST sends none."""
    sent = dict(headers or {})
    if method == "POST" and key != "":
        sent[KEY] = key or uuid.uuid4().hex
    answer = yield from answered(method, path, body, params, sent, timeout_seconds)
    return answer.json()


def answered(
    method: str,
    path: str,
    body: Any = NOTHING,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_seconds: float | None = None,
) -> Flow[Answer]:
    """Send one request, as it is, and return its answer."""
    sent, content = dict(headers or {}), None
    if body is not NOTHING:
        sent["Content-Type"], content = "application/json", encoded(body)
    request = Request(method, API + path, as_params(params or {}), content, sent, timeout_seconds)
    answer: Answer = yield request
    return answer


def page(path: str, params: Mapping[str, Any]) -> Flow[PageOf[Any]]:
    """Ask for the first page of a list."""
    return as_page((yield from ask("GET", path, params=params)))


def following(page: PageOf[T]) -> Flow[PageOf[T]]:
    """Ask for the page after this one."""
    address = urlsplit(page.next or "")
    path = API + address.path.partition(API)[2]  # the base of the client has what stands before
    answer: Answer = yield Request("GET", f"{path}?{address.query}")
    return as_page(answer.json())


def as_page(body: Any) -> PageOf[Any]:
    return PageOf(body["results"], body["next"])


def part(name: str) -> str:
    """Return a name as a part of an address; a slash in it is %2F."""
    if not name:
        raise ValueError("a name in an address must not be empty")
    return quote(name, safe="")


def if_match(version: int | str | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


def encoded(body: Any) -> bytes:
    """Return JSON; what JSON cannot hold is a TypeError or a ValueError before anything is sent."""
    return json.dumps(body, allow_nan=False, ensure_ascii=False, default=_plain).encode()


def as_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _word(value) for name, value in params.items() if value is not None}


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"JSON cannot hold {type(value).__name__}: {value!r:.80}")


def _word(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else value
