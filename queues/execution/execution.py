"""Execute one script: arguments in, result or error out.

The functions that it needs are bound here by name, before any script can replace them.
"""

from json import JSONEncoder, loads
from time import monotonic
from traceback import format_exception
from typing import Any

from django.db import DatabaseError

from atributo_site.core import redaction
from atributo_site.core.errors import AtributoError
from queues.errors import ServiceNotFound
from queues.execution.context import Context, Emit
from queues.execution.loader import LoadedService, Services, candidate, imported
from queues.execution.scope import RunScope
from queues.logic import secret_fields
from queues.logic.arguments import argv
from queues.logic.backoff import checked
from queues.logic.storable import DEEPEST, has_nul, is_too_deep

LARGEST_RESULT = 1024 * 1024
LONGEST_ERROR = 2_000
LONGEST_TRACEBACK = 20_000
LONGEST_LINE = 4_000
MOST_LINES = 1_000
PROGRESS_SECONDS = 0.05
_encode = JSONEncoder(allow_nan=False, ensure_ascii=False).encode


class TimedOut(BaseException):
    """Raised inside a script whose time is up; not an Exception, so that it is rarely caught."""


class Execution:
    """One run of one script."""

    def __init__(self, work: dict[str, Any], services: Services, send: Emit) -> None:
        self.work = work
        self.services = services
        self._send = send
        self._lines = 0
        self._progress: dict[str, Any] | None = None
        self._progress_at = 0.0
        self.secrets: set[str] = set()
        self.scope = RunScope(work, self.emit)
        self.is_ending = False

    def run(self) -> dict[str, Any]:
        """Run the script; return the message about its end."""
        begun = monotonic()
        try:
            self.scope.start()
            ended = self._ended(self._call())
            self.is_ending = True
            ended |= self.scope.succeed()
        except (Exception, TimedOut) as error:  # a script may raise anything
            self.is_ending = True
            ended = self._failed(_time_out_behind(error) or error)
        return {**ended, "begun": begun, "seconds": monotonic() - begun}

    def emit(self, message: dict[str, Any]) -> None:
        """Send log lines and progress, a bounded number of bounded lines, without secrets."""
        if message["t"] == "log":
            self._lines += 1
            if self._lines > MOST_LINES:
                return
            message["text"] = redaction.scrubbed(message["text"], self.secrets, LONGEST_LINE)
            message["at"] = monotonic()
        if message["t"] == "progress":
            message["note"] = redaction.scrubbed(message["note"], self.secrets, 255)
            if monotonic() < self._progress_at:  # more than anybody reads keeps the parent busy
                self._progress = message
                return
            self._progress_at = monotonic() + PROGRESS_SECONDS
            self._progress = None
        self._send(message)

    def tell_progress(self) -> None:
        """Send the last progress that was not sent yet."""
        if self._progress is not None:
            self._send(self._progress)

    def fall_silent(self) -> None:
        """Send nothing more: a thread that outlives its run must not speak for the next one."""
        self._send = _to_nobody

    def _call(self) -> Any:
        work = self.work
        data = loads(work["data"]) if work["data"] is not None else None
        self.secrets = self._secrets_of_origin(data)
        if not work["mount"]:
            self.secrets |= redaction.secrets_in(data)
            return imported(work["script"])(*argv(data))
        service = self._service(work["mount"])
        self.secrets |= secrets_of(service, work["script"], data)
        if service.development and work["script"] != "setup":
            self._invoke(service, "setup", [])
        return self._invoke(service, work["script"], argv(data))

    def _secrets_of_origin(self, data: Any) -> set[str]:
        """Return the secrets of the job whose callback this is."""
        origin = secret_fields.origin(data)
        if origin is None or self.work.get("candidate"):
            return set()
        mount, name = origin
        try:
            return secrets_of(self._service(mount), name, data)
        except ServiceNotFound:  # uninstalled meanwhile, and its schema with it
            return set()

    def _service(self, mount: str) -> LoadedService:
        """Return the service as it is installed, or as it is about to be."""
        if self.work.get("candidate"):
            return candidate(self.work["candidate"])
        return self.services.at(mount, self.work["revision"])

    def _invoke(self, service: LoadedService, name: str, arguments: list[Any]) -> Any:
        function = service.function(name)
        if function is None:
            return None
        job = self.work.get("job")
        return function(Context(arguments, job, service.facts, self.emit, self.scope))

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

    def _failed(self, error: BaseException) -> dict[str, Any]:
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
            "traceback": redaction.scrubbed("".join(lines), self.secrets, LONGEST_TRACEBACK),
            "status_code": _status_code(error),
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
        except Exception as error:  # a script may raise anything
            self.emit({"t": "log", "level": "error", "text": f"back_off: {error!r}"})
            return None

    def _asked(self, reference: dict[str, str], failures: int) -> Any:
        if "function" in reference:
            return imported(reference["function"])(failures)
        service = self._service(reference["mount"])
        return self._invoke(service, reference["name"], [failures])


def secrets_of(service: LoadedService, name: str, data: Any) -> set[str]:
    """Return the secret values that a run of this script may meet."""
    if data is None:
        return service.secrets
    script = service.scripts.get(name)
    names = secret_fields.secret_names(script.schema if script else None)
    return service.secrets | redaction.secrets_in(data, names)


def _to_nobody(message: dict[str, Any]) -> None:
    pass


def _checked(value: Any) -> int:
    milliseconds = checked(value)
    if milliseconds is None:
        raise ValueError(f"{value!r} is no duration")
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
    except Exception:  # it is the script's own, and so is its __str__
        return type(error).__name__


def _status_code(error: BaseException) -> int | None:
    code = getattr(error, "status_code", None)
    return code if isinstance(code, int) and 400 <= code <= 599 else None
