"""Follow one script that runs now, by the messages of its process, until it ends."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from django.conf import settings

from allocation.transactions.engine.completion import renew
from allocation.transactions.engine.operations import Fence
from queues.errors import ScriptFailed
from queues.runs import abandoned
from queues.worker.child_process import Workhorse
from queues.worker.protocol import ChildGone

START_SECONDS = 20.0  # a fresh interpreter on a busy machine
TICK_SECONDS = 0.1
Watch = Callable[[], str]  # why the run has to end, or nothing


@dataclass
class Ran:
    """The result of a script that ran now."""

    result: Any = None
    lines: list[dict[str, str]] = field(default_factory=list)
    seconds: float = 0.0
    transactions: list[int] = field(default_factory=list)
    pushes: list[dict[str, Any]] = field(default_factory=list)  # what a dry run would push

    def as_answer(self) -> dict[str, Any]:
        return asdict(self)


def follow(
    workhorse: Workhorse,
    work: dict[str, Any],
    watch: Watch = lambda: "",
    monotonic: Callable[[], float] = time.monotonic,
) -> Ran:
    """Return the result or raise ScriptFailed; a failed one leaves nothing running or half done."""
    ran = Ran()
    try:
        workhorse.give([work], 0.0)
        _listen(ran, workhorse, work, watch, monotonic)
    except BaseException:
        workhorse.kill()
        abandoned.roll_back(ran.transactions)
        raise
    return ran


def _listen(
    ran: Ran,
    workhorse: Workhorse,
    work: dict[str, Any],
    watch: Watch,
    monotonic: Callable[[], float],
) -> None:
    begun, renewed = monotonic(), monotonic()
    while True:
        starting = workhorse.start_seconds(START_SECONDS)
        left = begun + work["timeout_ms"] / 1000 + starting - monotonic()
        if left <= 0:
            raise ScriptFailed(f"timed out after {work['timeout_ms']} ms")
        try:
            message = workhorse.receive(min(left, TICK_SECONDS))
        except ChildGone:
            raise ScriptFailed(f"the process was {workhorse.reap()}") from None
        if message is not None and message["t"] == "done":
            return _end(ran, message)
        if message is not None and starting:
            begun = monotonic()  # what its interpreter took to start is not the script's time
        if message is not None:
            _hear(ran, message)
        if reason := watch() or _too_fat(workhorse):
            raise ScriptFailed(reason)
        if monotonic() > renewed + settings.ATRIBUTO.max_job_time_ms / 3000:
            _renew(ran)
            renewed = monotonic()


def _hear(ran: Ran, message: dict[str, Any]) -> None:
    if message["t"] == "log":
        ran.lines.append({"level": message["level"], "text": message["text"]})
    elif message["t"] == "transaction":
        ran.transactions.append(message["id"])


def _renew(ran: Ran) -> None:
    """Renew its transaction, which lives as long as its run, up to its limit."""
    if ran.transactions:
        renew(Fence(ran.transactions[-1], epoch=1))


def _too_fat(workhorse: Workhorse) -> str:
    is_over_memory_limit = workhorse.is_over_memory_limit()
    return f"used more than {workhorse.memory_mb} MB of memory" if is_over_memory_limit else ""


def _end(ran: Ran, message: dict[str, Any]) -> None:
    ran.seconds = message["seconds"]
    if message["ok"]:
        ran.result = message["result"]
        ran.pushes = message.get("pushes", [])
        return
    raise ScriptFailed(
        message["error"],
        message["status_code"] or 500,
        traceback=message["traceback"],
        lines=ran.lines,
    )
