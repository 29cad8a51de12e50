"""See and assert what was pushed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from queues.functions.arguments import of_call
from queues.functions.modules import to_push
from queues.jobs.calls import OPTIONS
from queues.models import QueuedJob
from queues.testing.faults import place_of

COLUMNS = {"delay_until": "due_at", "repeat_delay": "repeat_delay_ms", "timeout": "timeout_ms"}


@dataclass(frozen=True)
class Pushed:
    """One job, as its row has it now."""

    id: str
    queue: str
    mount: str
    script: str
    data: Any
    row: QueuedJob

    @classmethod
    def of(cls, job: QueuedJob) -> "Pushed":
        return cls(str(job.pk), job.queue.name, job.mount, job.script, job.data, job)

    def __str__(self) -> str:
        return f"{self.mount}.{self.script} in {self.queue} with {self.data!r}"


def pushed(script: Any = None, *, queue: str | None = None) -> list[Pushed]:
    """Return the jobs in the order of their push; those of one script, function or queue."""
    jobs = QueuedJob.objects.visible().select_related("queue").order_by("created_at", "id")
    if script is not None:
        jobs = jobs.of_script(*place_of(script))
    if queue is not None:
        jobs = jobs.filter(queue__name=queue)
    return [Pushed.of(job) for job in jobs]


def assert_pushed(
    script: Any, *arguments: Any, queue: str | None = None, times: int | None = None, **given: Any
) -> Pushed:
    """Assert that a job was pushed with these arguments and options; return the last of them.

    Without arguments any will do. `times` says how often.
    """
    options = {name: value for name, value in given.items() if name in OPTIONS}
    keywords = {name: value for name, value in given.items() if name not in OPTIONS}
    wanted = _data(script, arguments, keywords)
    found = [each for each in pushed(script, queue=queue) if wanted is ANY or each.data == wanted]
    found = [each for each in found if _has(each, options)]
    if times is None and not found:
        raise AssertionError(f"no such job was pushed; pushed were: {_listed()}")
    if times is not None and len(found) != times:
        raise AssertionError(f"pushed {len(found)} times, not {times}; pushed were: {_listed()}")
    return found[-1] if found else None  # type: ignore[return-value]  # where times is 0


def assert_not_pushed(script: Any, *, queue: str | None = None) -> None:
    if found := pushed(script, queue=queue):
        raise AssertionError(f"pushed after all: {', '.join(map(str, found))}")


def assert_nothing_pushed() -> None:
    if pushed():
        raise AssertionError(f"pushed after all: {_listed()}")


ANY = object()


def _data(script: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if not arguments and not keywords:
        return ANY
    if isinstance(script, Mapping):
        return keywords["data"] if "data" in keywords else arguments[0]
    return of_call(to_push(script), arguments, keywords)


def _has(each: Pushed, options: dict[str, Any]) -> bool:
    return all(
        getattr(each.row, COLUMNS.get(name, name)) == value for name, value in options.items()
    )


def _listed() -> str:
    return "; ".join(map(str, pushed())) or "nothing"
