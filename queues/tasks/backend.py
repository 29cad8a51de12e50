"""The backend for Django's Tasks API: each task becomes a queued job.

`TASKS = {"default": {"BACKEND": "queues.tasks.AtributoBackend"}}`
"""

from dataclasses import dataclass, fields, replace
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from queues.errors import BadPush, InvalidJobId, JobNotFound, QueueNotFound, ScriptNotFound
from queues.functions.arguments import of_call
from queues.functions.declaration import declare, lookup
from queues.functions.modules import to_push
from queues.jobs.push import push
from queues.tasks import results
from queues.tasks.library import invalid, part
from queues.tasks.priorities import to_ours

Task: Any = part("base").Task
BaseTaskBackend: Any = part("backends.base").BaseTaskBackend
OF_DECLARATION = ("threads", "record_start")


@dataclass(frozen=True, kw_only=True)
class AtributoTask(Task):
    """A task with the options of a push; None leaves one as the declaration has it."""

    sticky_key: str | None = None
    concurrent: bool | None = None
    unique_key: str | None = None
    max_failures: float | None = None
    back_off: Any = None
    timeout: Any = None
    repeat_times: float | None = None
    repeat_delay: Any = None
    repeat_until: Any = None
    success: Any = None
    failure: Any = None
    flow_key: str | None = None
    limits: Any = None
    expires_at: Any = None
    threads: int | None = None
    record_start: bool = False

    def using(self, **changes: Any) -> Any:
        """Return a task with other options, those of a push included."""
        names = {each.name for each in fields(self)} - {"func", "takes_context", *OF_DECLARATION}
        if unknown := sorted(changes.keys() - names):
            raise TypeError(f"using() takes no {', '.join(unknown)}")
        given = {name: value for name, value in changes.items() if value is not None}
        return replace(self, **given)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.func(*arguments, **keywords)


OPTIONS = tuple(
    each.name
    for each in fields(AtributoTask)
    if each.name not in {one.name for one in fields(Task)} | set(OF_DECLARATION)
)


class AtributoBackend(BaseTaskBackend):
    task_class = AtributoTask
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def validate_task(self, task: Any) -> None:
        """Check a task and declare its function, so that workers that load it may call it."""
        super().validate_task(task)
        given = _given(task)
        known = lookup(task.func.__module__, task.func.__name__)
        if known is not None and known.function is task.func:
            return
        ahead: dict[str, Any] = {name: getattr(task, name, None) for name in OF_DECLARATION}
        try:
            declare(task.func, takes_context=task.takes_context, **given, **ahead)
        except ImproperlyConfigured as error:
            raise invalid(str(error)) from error

    def enqueue(self, task: Any, args: Any, kwargs: Any) -> Any:
        """Push a job; what cannot be stored is refused with its reason, and nothing is."""
        self.validate_task(task)
        result = results.new(task, list(args), dict(kwargs), self.alias)
        try:
            known = to_push(task.func)
            data = of_call(known, result.args, result.kwargs)
            script = {"mount": known.module, "name": known.name}
            job_id = push(task.queue_name, script, data, self._options(task))
        except (BadPush, QueueNotFound) as error:
            raise invalid(str(error)) from error
        object.__setattr__(result, "id", job_id)
        object.__setattr__(result, "enqueued_at", results.enqueued_at(job_id) or timezone.now())
        part("signals").task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:
        """Return a result as the rows have it now."""
        try:
            return results.stored(result_id, self.alias, self.task_class)
        except (InvalidJobId, JobNotFound, ScriptNotFound) as error:
            raise part("exceptions").TaskResultDoesNotExist(result_id) from error

    def _options(self, task: Any) -> dict[str, Any]:
        options = {**_given(task), "delay_until": task.run_after}
        if task.priority:
            options["priority"] = to_ours(int(task.priority))
        return options


def _given(task: Any) -> dict[str, Any]:
    """Return the options of a push that a task has; one of another class has none."""
    given = {name: getattr(task, name, None) for name in OPTIONS}
    return {name: value for name, value in given.items() if value is not None}
