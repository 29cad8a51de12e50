"""Follow the event stream: what its lines mean, where to go on, and when to give up."""

import json
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from atributo_client.failures import AtributoError, NoAnswer, StreamEnded, Unreachable
from atributo_client.problems import error_of
from atributo_client.shells import AsyncShell, Settings, Shell, answer_of, failure_of

KEPT_IDS = 2000
MOST_DOUBLINGS = 10


@dataclass(frozen=True)
class Message:
    """One message of the stream; `kind` is event, hint, overflow, degraded or healed."""

    kind: str
    data: Any
    last_event_id: str


class Following:
    """Read lines and keep the place; it knows neither sockets nor clocks."""

    def __init__(
        self, settings: Settings, topics: tuple[str, ...], hints: bool, last_event_id: str
    ) -> None:
        self.settings = settings
        self.last_event_id = last_event_id
        self.failures = 0
        self.params = {"topics": ",".join(topics)} if topics else {}
        if hints:
            self.params["hints"] = "yes"
        self._fields: dict[str, str] = {}
        self._seen: deque[Any] = deque(maxlen=KEPT_IDS)

    def headers(self) -> dict[str, str]:
        self._fields = {}
        return {"Last-Event-ID": self.last_event_id} if self.last_event_id else {}

    def check(self, response: httpx.Response) -> None:
        if response.status_code != 200:
            raise error_of(answer_of(response))
        self.failures = 0

    def take(self, line: str) -> Message | None:
        """Return a message when its last line has come; StreamEnded when the site says bye."""
        if line:
            name, _, value = line.partition(":")
            self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        self.last_event_id = fields.get("id", self.last_event_id)
        if "data" not in fields:
            return None
        return self._message(fields.get("event", "event"), json.loads(fields["data"]))

    def _message(self, kind: str, data: Any) -> Message | None:
        if kind == "bye":
            raise StreamEnded("The site ended the event stream: logged out, or the role is gone.")
        if kind == "stopping" or (kind == "event" and data["id"] in self._seen):
            return None
        if kind == "event":
            self._seen.append(data["id"])
        return Message(kind, data, self.last_event_id)

    def pause_after(self, error: Exception | None, give_up_after: int | None) -> float:
        """Return the seconds before the next connection, or raise what cannot be mended."""
        self.failures += 1
        failure = self._failure(error)
        is_final = not isinstance(failure, Unreachable | NoAnswer) and (
            failure.retry_after_seconds is None or failure.status not in {429, 503}
        )
        if is_final or (give_up_after is not None and self.failures >= give_up_after):
            raise failure
        retries = self.settings.retries
        doubled = retries.first_pause_seconds * 2.0 ** min(self.failures, MOST_DOUBLINGS)
        return max(min(doubled, retries.longest_pause_seconds), failure.retry_after_seconds or 0)

    def _failure(self, error: Exception | None) -> AtributoError:
        if error is None:
            return NoAnswer("The event stream ended.")
        return error if isinstance(error, AtributoError) else failure_of(error, self.settings)


def follow(shell: Shell, following: Following, give_up_after: int | None) -> Iterator[Message]:
    while True:
        failure: Exception | None = None
        try:
            with shell.stream(following.headers(), following.params) as response:
                following.check(response)
                for line in response.iter_lines():
                    if message := following.take(line):
                        yield message
        except (httpx.TransportError, AtributoError) as error:
            failure = error
        shell.sleep(following.pause_after(failure, give_up_after))


async def follow_async(
    shell: AsyncShell, following: Following, give_up_after: int | None
) -> AsyncIterator[Message]:
    while True:
        failure: Exception | None = None
        try:
            async with shell.stream(following.headers(), following.params) as response:
                following.check(response)
                async for line in response.aiter_lines():
                    if message := following.take(line):
                        yield message
        except (httpx.TransportError, AtributoError) as error:
            failure = error
        await shell.sleep(following.pause_after(failure, give_up_after))
