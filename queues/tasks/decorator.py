"""`@task` declares a function: from then on it can be pushed, and workers may call it."""

from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, overload

from django.core.exceptions import ImproperlyConfigured

from queues.functions.declaration import declare
from queues.tasks.priorities import HIGHEST, to_ours


class TaskFunction:
    """A declared function. A call of it is a plain call; queues and the Tasks API know it, too."""

    def __init__(self, function: Callable[..., Any], facts: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.func = function
        self._facts = facts

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.func(*arguments, **keywords)

    def __repr__(self) -> str:
        return f"<task {self.func.__module__}.{self.func.__name__}>"

    def using(self, **changes: Any) -> Any:
        """Return a task of the Tasks API, with other options where some are given."""
        from queues.tasks.backend import AtributoTask

        task = AtributoTask(func=self.func, run_after=None, **self._facts)
        return task.using(**changes) if changes else task

    def enqueue(self, *arguments: Any, **keywords: Any) -> Any:
        return self.using().enqueue(*arguments, **keywords)

    async def aenqueue(self, *arguments: Any, **keywords: Any) -> Any:
        return await self.using().aenqueue(*arguments, **keywords)

    def get_result(self, result_id: str) -> Any:
        return self.using().get_result(result_id)

    async def aget_result(self, result_id: str) -> Any:
        return await self.using().aget_result(result_id)


@overload
def task(function: Callable[..., Any]) -> TaskFunction: ...


@overload
def task(
    *,
    priority: int = 0,
    queue_name: str = "default",
    backend: str = "default",
    takes_context: bool = False,
    schedule: Mapping[str, Any] | None = None,
    schedules: Mapping[str, Mapping[str, Any]] | None = None,
    **options: Any,
) -> Callable[[Callable[..., Any]], TaskFunction]: ...


def task(
    function: Callable[..., Any] | None = None,
    *,
    priority: int = 0,
    queue_name: str = "default",
    backend: str = "default",
    takes_context: bool = False,
    schedule: Mapping[str, Any] | None = None,
    schedules: Mapping[str, Mapping[str, Any]] | None = None,
    **options: Any,
) -> Any:
    """Declare a function, bare or with options that each push of it has unless it says otherwise.

    With `takes_context` its first argument is the context that scripts get, too. `priority` is that
    of the Tasks API, from -100 to 100; `queue_name` and `backend` count where it is enqueued.
    `schedule` has the fields of a schedule with the name of the function, `schedules` those of
    several by name; `manage.py schedules deploy` makes them.
    """
    if type(priority) is not int or abs(priority) > HIGHEST:
        raise ImproperlyConfigured(
            f"priority must be a whole number from -{HIGHEST} to {HIGHEST}, not {priority!r}"
        )
    named = {"priority": priority, "queue_name": queue_name, "backend": backend}
    facts = {**named, "takes_context": takes_context, **options}

    def declared(each: Callable[..., Any]) -> TaskFunction:
        ours = {**options, "priority": to_ours(priority)} if priority else options
        planned = {**(schedules or {}), **({each.__name__: schedule} if schedule else {})}
        declare(each, takes_context=takes_context, schedules=planned, **ours)
        return TaskFunction(each, facts)

    return declared if function is None else declared(function)
