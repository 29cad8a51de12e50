"""Follow one script that runs now, by the messages of its process, until it ends."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from django.conf import settings

from allocation.transactions.engine.completion import renew
from allocation.transactions.engine.operations import Fence
from atributo_site.core.text import written
from queues.children.child_process import Workhorse
from queues.children.protocol import ChildGone
from queues.children.waits import Steps, Wait, followed
from queues.errors import ScriptFailed
from queues.runs import abandoned

START_SECONDS = 20.0  # a fresh interpreter on a busy machine
TICK_SECONDS = 0.1
Watch = Callable[[], str]  # why the run has to end, or nothing


@dataclass
class ScriptResult:
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
) -> ScriptResult:
    """Return the result or raise ScriptFailed; a failed one leaves nothing running or half done."""
    return followed(steps(workhorse, work, watch, monotonic))


def steps(
    workhorse: Workhorse,
    work: dict[str, Any],
    watch: Watch = lambda: "",
    monotonic: Callable[[], float] = time.monotonic,
) -> Steps[ScriptResult]:
    """Do the same in steps."""
    result = ScriptResult()
    try:
        workhorse.give([work], 0.0)
        yield from _listen(result, workhorse, work, watch, monotonic)
    except BaseException:
        workhorse.kill()
        abandoned.roll_back(result.transactions)
        raise
    return result


def _listen(
    result: ScriptResult,
    workhorse: Workhorse,
    work: dict[str, Any],
    watch: Watch,
    monotonic: Callable[[], float],
) -> Steps[None]:
    begun, renewed = monotonic(), monotonic()
    while True:
        starting = workhorse.start_seconds(START_SECONDS)
        left = begun + work["timeout_ms"] / 1000 + starting - monotonic()
        if left <= 0:
            raise _failed(result, f"timed out after {written(work['timeout_ms'])}")
        try:
            message = yield Wait(workhorse, min(left, TICK_SECONDS))
        except ChildGone:
            how = workhorse.reap()
            for line in workhorse.last_lines():
                _receive(result, line)
            raise _failed(result, f"the process was {how}") from None
        if message is not None and message["t"] == "done":
            return _end(result, message)
        if message is not None and starting:
            begun = monotonic()  # what its interpreter took to start is not the script's time
        if message is not None:
            _receive(result, message)
        if reason := watch() or _too_fat(workhorse):
            raise _failed(result, reason)
        if monotonic() > renewed + settings.ATRIBUTO.max_job_time_ms / 3000:
            _renew(result)
            renewed = monotonic()


def _failed(result: ScriptResult, reason: str) -> ScriptFailed:
    """Return the error of a script that did not end by itself, with what it logged."""
    return ScriptFailed(reason, lines=result.lines)


def _receive(result: ScriptResult, message: dict[str, Any]) -> None:
    if message["t"] == "log":
        result.lines.append({"level": message["level"], "text": message["text"]})
    elif message["t"] == "transaction":
        result.transactions.append(message["id"])


def _renew(result: ScriptResult) -> None:
    """Renew its transaction, which lives as long as its run, up to its limit."""
    if result.transactions:
        renew(Fence(result.transactions[-1], epoch=1))


def _too_fat(workhorse: Workhorse) -> str:
    is_over_memory_limit = workhorse.is_over_memory_limit()
    return f"used more than {workhorse.memory_mb} MB of memory" if is_over_memory_limit else ""


def _end(result: ScriptResult, message: dict[str, Any]) -> None:
    result.seconds = message["seconds"]
    if message["ok"]:
        result.result = message["result"]
        result.pushes = message.get("pushes", [])
        return
    raise ScriptFailed(
        message["error"],
        message["status_code"] or 500,
        traceback=message["traceback"],
        lines=result.lines,
    )
