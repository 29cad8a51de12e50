"""Render a live part once for everybody who may see the same and follows the same hint.

Hundreds of open pages follow a hint at the same moment. What is rendered after the hint shows what
it tells of, so one answer serves them all; only the token of the forms is each reader's own.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token

from atributo_site.permissions import APP_LABEL, Level
from atributo_site.status.marks import generation

HEADER = "X-Live"
TOKEN = "token-of-the-reader"  # noqa: S105  a place for it
WAIT_SECONDS = 10.0  # for the one who renders
MOST_PARTS = 200


class SharedParts:
    """Keep the parts of the newest generation; older ones are never asked for again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = ""
        self._parts: dict[Any, Future[Any]] = {}

    def part(self, name: str, key: Any, render: Callable[[], Any]) -> Any:
        """Return the part, rendered by whoever comes first."""
        future, is_first = self._place(name, key)
        if not is_first:
            return future.result(WAIT_SECONDS)
        try:
            future.set_result(render())
        except BaseException as error:  # whatever it is, those who wait must hear of it
            future.set_exception(error)
            self._forget(key)
            raise
        return future.result()

    def _place(self, name: str, key: Any) -> tuple[Future[Any], bool]:
        with self._lock:
            if name != self._generation or len(self._parts) > MOST_PARTS:
                self._generation, self._parts = name, {}
            is_first = key not in self._parts
            return self._parts.setdefault(key, Future()), is_first

    def _forget(self, key: Any) -> None:
        with self._lock:
            self._parts.pop(key, None)


parts = SharedParts()


def hint_followed(request: Any) -> str:
    """Return the newest hint if the request follows one of this very process.

    A page that comes late follows an older one; what is rendered for the newest shows that, too.
    """
    is_part = request.method == "GET" and bool(request.htmx)
    return generation.newest_after(request.headers.get(HEADER, "")) if is_part else ""


def shared(request: HttpRequest, hint: str, render: Callable[[], HttpResponseBase]) -> HttpResponse:
    """Answer with the part that all readers of this address and these rights share."""
    key = (request.get_host(), request.get_full_path(), _rights(request.user))
    made = parts.part(hint, key, render)
    body = made.content.replace(TOKEN.encode(), get_token(request).encode())
    return HttpResponse(body, made.headers["Content-Type"], made.status_code)


def _rights(user: Any) -> tuple[bool, ...]:
    levels = tuple(user.has_perm(f"{APP_LABEL}.{level.value}") for level in Level)
    return (*levels, user.is_staff, user.is_superuser)
