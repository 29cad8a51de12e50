"""What a script sees: `def run(context)`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from queues.execution import endings
from queues.execution.endings import Delay
from queues.logic.mounts import prefix

if TYPE_CHECKING:
    from queues.execution.scope import RunScope, RunTransaction

Emit = Callable[[dict[str, Any]], None]
LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True)
class ServiceFacts:
    """The service a script belongs to."""

    mount: str
    name: str
    version: str
    folder: str
    configuration: dict[str, Any] = field(default_factory=dict)


class Log:
    """Lines kept with the attempt: `context.log("text")`, `context.log.warning("text")`."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit

    def __call__(self, text: object, level: str = "info") -> None:
        known = level if level in LEVELS else "info"
        self._emit({"t": "log", "level": known, "text": str(text)})

    def debug(self, text: object) -> None:
        self(text, "debug")

    def info(self, text: object) -> None:
        self(text, "info")

    def warning(self, text: object) -> None:
        self(text, "warning")

    def error(self, text: object) -> None:
        self(text, "error")


class Context:
    def __init__(
        self,
        argv: list[Any],
        job: dict[str, Any] | None,
        service: ServiceFacts,
        emit: Emit,
        scope: "RunScope",
    ) -> None:
        self.argv = argv
        self.job = job
        self.service = service
        self.log = Log(emit)
        self._emit = emit
        self._scope = scope

    @property
    def attempt(self) -> int:
        """The number of this attempt at the job, from 1 on; 1 where there is no job."""
        return self.job["attempt"] if self.job else 1

    @property
    def task_result(self) -> Any:
        """The result of the Tasks API as it is now; None where there is no job."""
        from queues.tasks.running import result_of_run

        return result_of_run(self.job) if self.job else None

    @property
    def dry_run(self) -> bool:
        """Whether everything is rolled back afterwards: leave alone what lies outside."""
        return self._scope.dry

    def progress(self, percent: float, note: str = "") -> None:
        """Show how far the script is; it is kept with the attempt."""
        bounded = min(100.0, max(0.0, float(percent)))
        self._emit({"t": "progress", "percent": bounded, "note": str(note)[:255]})

    def snooze(
        self,
        delay: Delay | None = None,
        *,
        until: datetime | float | None = None,
        reason: str = "",
    ) -> NoReturn:
        """End this attempt, which is no failure; start again after `delay` ms or at `until`."""
        endings.snooze(delay, until=until, reason=reason)

    def retry(self, delay: Delay, *, reason: str = "") -> NoReturn:
        """Fail this attempt, and wait `delay` ms before the next one, if one is left."""
        endings.retry(delay, reason=reason)

    def give_up(self, reason: str = "") -> NoReturn:
        """Fail this run for good, however many retries are left."""
        endings.give_up(reason)

    def collection_name(self, name: str) -> str:
        """Turn `texts` into `example_texts` for a service mounted at /example."""
        return prefix(self.service.mount) + name

    def push(self, script: Any, *arguments: Any, queue: str = "default", **options: Any) -> str:
        """Push a job, as the handle of a queue does; a name alone is a script of this service.

        Within `with context.transaction():` it appears when the transaction completes.
        """
        from queues.catalogue import get

        named = {"mount": self.service.mount, "name": script} if isinstance(script, str) else script
        with self._scope.pushing():
            return get(queue).push(named, *arguments, **options)

    @property
    def client(self) -> Any:
        """Get, put and delete documents outside a transaction."""
        return self._scope.client()

    def transaction(self, wait: float = 0.0) -> "RunTransaction":
        """Change documents together when the run succeeds, or not at all.

        `wait` is how many seconds an operation waits for a key that somebody else holds.
        """
        return self._scope.transaction(wait)
