"""Answer equal questions for live parts once: all tabs of a reader follow a hint together.

Two requests are equal if every header is, cookies included, so nobody gets the answer of somebody
else. An answer is given again until the next hint, but for a second at most: whoever has lost the
right to see it asks Django then.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass

from atributo_site.serving.asgi_types import Message, Send, numbered
from atributo_site.status.marks import Generation, generation

HEADER = b"x-live"
NUMBER = b"x-request-id"  # each answer has its own
BODY = {b"content-length", b"transfer-encoding"}
SECONDS = 1.0
MOST = 500

Answer = list[Message]


@dataclass(frozen=True)
class Kept:
    name: str  # of the generation in which it was asked for
    until: float
    answer: asyncio.Future[Answer | None]


class LiveAnswers:
    def __init__(
        self,
        ask: Callable[[Message, Send], Awaitable[None]],
        numbers: Generation = generation,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask, self._numbers, self._clock = ask, numbers, clock
        self._kept: dict[Hashable, Kept] = {}

    def concerns(self, scope: Message) -> bool:
        """Return whether it is a page that follows one of our hints."""
        headers = dict(scope["headers"])
        if scope["method"] != "GET" or HEADER not in headers or BODY & headers.keys():
            return False
        return bool(self._numbers.newest_after(headers[HEADER].decode("latin-1")))

    async def __call__(self, scope: Message, send: Send) -> None:
        key = _key(scope)
        kept = self._usable(key)
        answer = await asyncio.shield(kept.answer) if kept else await self._first(key, scope)
        if answer is None:  # the first one was refused or broke off: that is not for others
            return await self._ask(scope, send)
        await _send(answer, numbered(scope, send))

    def _usable(self, key: Hashable) -> Kept | None:
        kept = self._kept.get(key)
        if kept is None or kept.name != self._numbers.name or kept.until < self._clock():
            return None
        return kept

    async def _first(self, key: Hashable, scope: Message) -> Answer | None:
        answer: Answer = []

        async def collect(message: Message) -> None:
            answer.append(message)

        future = asyncio.get_running_loop().create_future()
        self._keep(key, Kept(self._numbers.name, self._clock() + SECONDS, future))
        try:
            await self._ask(scope, collect)
        finally:
            is_good = len(answer) == 2 and answer[0].get("status") == 200
            future.set_result(answer if is_good else None)
            if not is_good:
                self._kept.pop(key, None)
        return answer

    def _keep(self, key: Hashable, kept: Kept) -> None:
        if len(self._kept) >= MOST or any(each.name != kept.name for each in self._kept.values()):
            self._kept = {}
        self._kept[key] = kept


def _key(scope: Message) -> Hashable:
    """Return all that the answer depends on; which hint is followed is not a part of it."""
    headers = [pair for pair in scope["headers"] if pair[0] not in (HEADER, NUMBER)]
    asker = (scope.get("client") or ("",))[0]
    return asker, scope["path"], scope["query_string"], tuple(sorted(headers))


async def _send(answer: Answer, send: Send) -> None:
    start, body = answer
    headers = [pair for pair in start["headers"] if pair[0] != NUMBER]
    await send({**start, "headers": headers})
    await send(body)
