"""Execute one script: arguments in, result or error out.

The functions that it needs are bound here by name, before any script can replace them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable, iscoroutine
from itertools import count
from json import JSONEncoder, loads
from os import environ
from sys import maxsize
from time import monotonic
from traceback import format_exception
from typing import Any

from django.db import DatabaseError

from atributo_site.core import redaction
from atributo_site.core.errors import AtributoError
from queues.errors import ServiceNotFound
from queues.execution.context import Context, Emit
from queues.execution.endings import ScriptEnding, Snooze
from queues.execution.loader import LIFECYCLE, LoadedService, Services, candidate
from queues.execution.output import LONGEST_LINE
from queues.execution.scope import RunScope
from queues.logic import secret_fields
from queues.logic.arguments import argv
from queues.logic.backoff import checked
from queues.logic.storable import DEEPEST, has_nul, is_too_deep
from queues.tasks.announcements import Announcement, announce

LARGEST_RESULT = 1024 * 1024
LONGEST_ERROR = 2_000
LONGEST_TRACEBACK = 20_000
MOST_LINES = 1_000
CUT_HERE = f"the log is cut here: {MOST_LINES:,} lines of a run are kept"
PROGRESS_SECONDS = 0.05
_encode = JSONEncoder(allow_nan=False, ensure_ascii=False).encode


class TimedOut(BaseException):
    """Raised inside a script whose time is up; not an Exception, so that it is rarely caught."""


class Execution:
    """One run of one script."""

    def __init__(self, work: dict[str, Any], services: Services, send: Emit) -> None:
        self.work = work = _as_named(work)
        self.services = services
        self._send = send
        self._numbers = count(1)  # of log lines; whichever thread asks gets its own
        self._cut_lines = self._cut_characters = 0
        self._progress: dict[str, Any] | None = None
        self._progress_at = 0.0
        self.secrets: set[str] = set()
        self.scope = RunScope(work, self.emit)
        self.is_ending = False
        self.stop_error: TimedOut | None = None  # once it was asked to stop

    def run(self) -> dict[str, Any]:
        """Run the script; return the message about its end."""
        begun = monotonic()
        task: Announcement | None = None
        try:
            self.scope.start()
            task = announce(self.work)
            ended = self._ended(self._call())
            self.is_ending = True
            ended |= self.scope.succeed()
            self._announce(task, ended)
        except BaseException as error:  # a script may raise anything
            self.is_ending = True
            ended = self._failed(_time_out_behind(error) or error)
            self._announce(task, ended)
        return {**ended, "begun": begun, "seconds": monotonic() - begun}

    async def run_async(self) -> dict[str, Any]:
        """Run an `async def` among others; `stop_error` says why it was cancelled, if it was."""
        begun = monotonic()
        task: Announcement | None = None
        try:
            task = announce(self.work)
            called = self._call(awaited=False)
            if isawaitable(called):
                called = await _ended_well(called)
            ended = self._ended(called)
            self.is_ending = True
            ended |= self.scope.succeed()
            self._announce(task, ended)
        except BaseException as error:  # a script may raise anything
            self.is_ending = True
            ended = self._failed(self.stop_error or error)
            self._announce(task, ended)
        return {**ended, "begun": begun, "seconds": monotonic() - begun}

    def _announce(self, task: Announcement | None, ended: dict[str, Any]) -> None:
        """Tell those who listen to the Tasks API; in an `except` block they see the exception."""
        if task is not None:
            task.end(ended)

    def emit(self, message: dict[str, Any]) -> None:
        """Send log lines and progress, a bounded number of bounded lines, without secrets."""
        if message["t"] == "log":
            number, left_out = next(self._numbers), message.pop("left_out", 0)
            if number == MOST_LINES + 1:
                self._warn(CUT_HERE)
            if number > MOST_LINES:
                return self.skip(1, len(message["text"]) + left_out)
            message["text"] = kept_line(message["text"], left_out, self.secrets)
            message["at"] = monotonic()
        if message["t"] == "progress":
            message["note"] = redaction.scrubbed(message["note"], self.secrets, 255)
            if monotonic() < self._progress_at:  # more than anybody reads keeps the parent busy
                self._progress = message
                return None
            self._progress_at = monotonic() + PROGRESS_SECONDS
            self._progress = None
        return self._send(message)

    def skip(self, lines: int, characters: int) -> None:
        """Count what is not kept."""
        self._cut_lines += lines
        self._cut_characters += characters

    def is_full(self) -> bool:
        """Return whether no more of its log is kept."""
        return self._cut_lines > 0

    def tell_rest(self) -> None:
        """Send the last progress that was not sent yet, and how much of the log was cut."""
        if self._progress is not None:
            self._send(self._progress)
        if self.is_full():
            lines, characters = self._cut_lines, self._cut_characters
            self._warn(f"{lines:,} more lines with {characters:,} characters were cut")

    def _warn(self, text: str) -> None:
        self._send({"t": "log", "level": "warning", "text": text, "at": monotonic()})

    def fall_silent(self) -> None:
        """Send nothing more: a thread that outlives its run must not speak for the next one."""
        self._send = _to_nobody

    def _call(self, *, awaited: bool = True) -> Any:
        work = self.work
        data = loads(work["data"]) if work["data"] is not None else None
        self.secrets = secrets_of_run(work, self.services, data)
        service = service_of(work, self.services, work["mount"])
        if service.development:
            service.unload()
        if service.development and work["script"] not in LIFECYCLE:
            self._invoke(service, "setup", [])
        return self._invoke(service, work["script"], argv(data), awaited=awaited)

    def _invoke(
        self, service: LoadedService, name: str, arguments: list[Any], *, awaited: bool = True
    ) -> Any:
        function = service.function(name)
        if function is None:
            return None
        job = self.work.get("job")
        context = Context(arguments, job, service.facts, self.emit, self.scope)
        return _returned(function, context, awaited=awaited)

    def _ended(self, result: Any) -> dict[str, Any]:
        if result is None:
            return {"t": "done", "ok": True, "result": None}
        text = _encode(result)
        text.encode()  # lone surrogates cannot be stored
        if has_nul(text):
            raise ValueError("the result contains the NUL character")
        if is_too_deep(result, text):
            raise ValueError(f"the result is nested deeper than {DEEPEST} levels")
        if len(text) > LARGEST_RESULT:
            raise ValueError(f"the result is larger than {LARGEST_RESULT} characters of JSON")
        return {"t": "done", "ok": True, "result": result}

    def failed(self, error: BaseException) -> dict[str, Any]:
        """Return the message about an end that the script did not reach by itself."""
        now = monotonic()
        return {**self._failed(error), "begun": now, "seconds": 0.0}

    def _failed(self, error: BaseException) -> dict[str, Any]:
        if isinstance(error, ScriptEnding) and self.work.get("job"):
            return self._ended_by(error)
        text = _said(error)
        lines = format_exception(error)
        back_off = self._back_off()
        rolled_back = self._rolled_back()
        return {
            "t": "done",
            "ok": False,
            "abandoned": not rolled_back,
            "timed_out": isinstance(error, TimedOut),
            "error": redaction.scrubbed(text, self.secrets, LONGEST_ERROR),
            "traceback": _without_middle(
                redaction.scrubbed("".join(lines), self.secrets, maxsize), LONGEST_TRACEBACK
            ),
            "status_code": _status_code(error),
            "back_off": back_off,
        }

    def _ended_by(self, ending: ScriptEnding) -> dict[str, Any]:
        """Return the message about an end that the script has chosen; its writes are undone."""
        text = redaction.scrubbed(str(ending), self.secrets, LONGEST_ERROR)
        is_snooze = isinstance(ending, Snooze)
        if is_snooze and text != Snooze.word:
            self.emit({"t": "log", "level": "info", "text": f"snoozed: {text}"})
        back_off = self._back_off() if ending.delay is None and not is_snooze else ending.delay
        return {
            "t": "done",
            "ok": False,
            "ending": ending.word,
            "due": ending.due,
            "abandoned": not self._rolled_back(),
            "timed_out": False,
            "error": "" if is_snooze else text,
            "traceback": "",
            "status_code": None,
            "back_off": back_off,
        }

    def _rolled_back(self) -> bool:
        """Roll back; what cannot be rolled back here is left to the parent."""
        try:
            return self.scope.fail()
        except (DatabaseError, AtributoError) as error:
            self.emit({"t": "log", "level": "error", "text": f"roll back: {error!r}"})
            return False

    def _back_off(self) -> int | None:
        """Return what a back-off function says; None where the number's formula applies."""
        reference = self.work.get("back_off")
        if not isinstance(reference, dict) or "strategy" in reference:
            return None
        try:
            return _checked(self._asked(reference, self.work["run_failures"]))
        except BaseException as error:  # a script may raise anything
            self.emit({"t": "log", "level": "error", "text": f"back_off: {error!r}"})
            return None

    def _asked(self, reference: dict[str, str], failures: int) -> Any:
        mount, name = place_of(reference)
        service = service_of(self.work, self.services, mount)
        return self._invoke(service, name, [failures])


def _as_named(work: dict[str, Any]) -> dict[str, Any]:
    """Return the work of a function with its module as the mount, however it was stored."""
    if work["mount"]:
        return work
    mount, name = place_of({"function": work["script"]})
    return {**work, "mount": mount, "script": name}


def place_of(reference: dict[str, str]) -> tuple[str, str]:
    """Return mount and name of a script, or module and name of a function."""
    if "function" in reference:
        module, _, name = reference["function"].partition(":")
        return module, name
    return reference["mount"], reference["name"]


def service_of(work: dict[str, Any], services: Services, mount: str) -> LoadedService:
    """Return the service as it is installed, or as it is about to be."""
    if work.get("candidate"):
        return candidate(work["candidate"])
    return services.at(mount, work["revision"])


def secrets_of_run(work: dict[str, Any], services: Services, data: Any) -> set[str]:
    """Return the secret values that a run may meet: its own, and as a callback its job's."""
    work = _as_named(work)
    secrets = _secrets_of_origin(work, services, data)
    service = service_of(work, services, work["mount"])
    return secrets | secrets_of(service, work["script"], data)


def _secrets_of_origin(work: dict[str, Any], services: Services, data: Any) -> set[str]:
    """Return the secrets of the job whose callback this is."""
    origin = secret_fields.origin(data)
    if origin is None or work.get("candidate"):
        return set()
    mount, name = origin
    try:
        return secrets_of(service_of(work, services, mount), name, data)
    except ServiceNotFound:  # uninstalled meanwhile, and its schema with it
        return set()


def secrets_of(service: LoadedService, name: str, data: Any) -> set[str]:
    """Return the secret values that a run of this script may meet."""
    if data is None:
        return service.secrets
    script = service.scripts.get(name)
    names = secret_fields.secret_names(script.schema if script else None)
    return service.secrets | redaction.secrets_in(data, names)


def kept_line(text: str, left_out: int, secrets: set[str]) -> str:
    """Return a line as it is stored; one that was cut says how much is missing."""
    left_out += max(0, len(text) - LONGEST_LINE)
    line = redaction.scrubbed(text, secrets, LONGEST_LINE)
    return f"{line} ({left_out:,} more characters)" if left_out else line


def _without_middle(text: str, longest: int) -> str:
    """Cut a long traceback where it repeats itself: its end has the error."""
    if len(text) <= longest:
        return text
    left_out, half = len(text) - longest, longest // 2
    return f"{text[:half]}\n… {left_out:,} characters are cut here …\n{text[-half:]}"


def _returned(function: Callable[..., Any], *arguments: Any, awaited: bool = True) -> Any:
    """Call a script; `sys.exit()` and `sys.exit(0)` are a good end without a result."""
    try:
        returned = function(*arguments)
        if not awaited or not iscoroutine(returned):
            return returned
        allow_calls_in_loops()
        return asyncio.run(returned)
    except SystemExit as error:
        if error.code not in (None, 0):
            raise
        return None


def allow_calls_in_loops() -> None:
    """Let an `async def` use its context, whose calls are short; the others wait meanwhile."""
    environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


async def _ended_well(called: Awaitable[Any]) -> Any:
    try:
        return await called
    except SystemExit as error:
        if error.code not in (None, 0):
            raise RuntimeError(f"SystemExit: {error.code}") from error
        return None


def _to_nobody(message: dict[str, Any]) -> None:
    pass


def _checked(value: Any) -> int:
    milliseconds = checked(value)
    if milliseconds is None:
        raise ValueError(f"{value!r} is not a duration")
    return milliseconds


def _time_out_behind(error: BaseException | None) -> TimedOut | None:
    """Find a time-out in the middle of a statement, which makes the next one fail, too."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, TimedOut):
            return error
        seen.add(id(error))
        error = error.__context__
    return None


def _said(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except BaseException:  # it is the script's own, and so is its __str__
        return type(error).__name__


def _status_code(error: BaseException) -> int | None:
    code = getattr(error, "status_code", None)
    return code if isinstance(code, int) and 400 <= code <= 599 else None
