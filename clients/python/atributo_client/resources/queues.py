"""Queues, and what is pushed to them."""

import builtins
from typing import Any, Unpack

from atributo_client.generated import answers, bodies, queries
from atributo_client.operation import Group, S, operation
from atributo_client.steps import NOTHING, Flow, PageOf, ask, page, part


class Queues(Group[S]):
    @operation("queues_list")
    def list(self, **filters: Unpack[queries.QueuesListQuery]) -> Flow[PageOf[answers.Queue]]:
        return page("queues", filters)

    @operation("queues_create")
    def create(self, name: str, **options: Unpack[bodies.QueueOptions]) -> Flow[answers.Queue]:
        return ask("POST", "queues", {"name": name, **options})

    @operation("queues_get")
    def get(self, name: str) -> Flow[answers.Queue]:
        return ask("GET", f"queues/{part(name)}")

    @operation("queues_change")
    def change(self, name: str, **changes: Unpack[bodies.QueueChanges]) -> Flow[answers.Queue]:
        return ask("PATCH", f"queues/{part(name)}", changes)

    @operation("queues_delete")
    def delete(self, name: str) -> Flow[None]:
        return ask("DELETE", f"queues/{part(name)}")

    @operation("queues_pause")
    def pause(self, name: str) -> Flow[answers.Queue]:
        return ask("POST", f"queues/{part(name)}/pause")

    @operation("queues_resume")
    def resume(self, name: str) -> Flow[answers.Queue]:
        return ask("POST", f"queues/{part(name)}/resume")

    @operation("queues_limits")
    def limits(self, name: str) -> Flow[answers.Limits]:
        """Ask which flow keys wait for which limit, and since when."""
        return ask("GET", f"queues/{part(name)}/limits")

    @operation("queues_limits_preview")
    def what_if(
        self, name: str, limits: builtins.list[dict[str, Any]] | None
    ) -> Flow[answers.WhatIf]:
        """Estimate when the backlog ends, now and with these limits; nothing is stored."""
        return ask("POST", f"queues/{part(name)}/limits", {"limits": limits})

    @operation("queues_pause_all")
    def pause_all(self) -> Flow[answers.ChangedQueues]:
        return ask("POST", "queues/pause")

    @operation("queues_resume_all")
    def resume_all(self) -> Flow[answers.ChangedQueues]:
        return ask("POST", "queues/resume")

    @operation("queues_jobs_list")
    def jobs(
        self, name: str, **filters: Unpack[queries.QueuesJobsListQuery]
    ) -> Flow[PageOf[answers.QueuedJob]]:
        return page(f"queues/{part(name)}/jobs", filters)

    @operation("queues_jobs_push")
    def push(
        self,
        queue: str,
        script: bodies.ScriptName,
        data: Any = NOTHING,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[bodies.PushOptions],
    ) -> Flow[str]:
        """Push one job and return its id; retries push it once."""
        return push(queue, script, data, dict(options), idempotency_key)

    @operation("queues_jobs_push_many")
    def push_many(
        self,
        queue: str,
        script: bodies.ScriptName,
        data: builtins.list[Any],
        *,
        idempotency_key: str | None = None,
        **options: Unpack[bodies.PushManyOptions],
    ) -> Flow[builtins.list[str]]:
        """Push a job for each piece of data, all or none, and return their ids."""
        body = {"script": script, "data": data, **options}
        path = f"queues/{part(queue)}/jobs/batch"
        return (yield from ask("POST", path, body, key=_given(idempotency_key)))["ids"]  # type: ignore[no-any-return]

    @operation("queues_jobs_cancel")
    def cancel(
        self, queue: str, unique_key: str, *, reason: str = ""
    ) -> Flow[answers.CancelledJob]:
        """Abort the unfinished job with this unique key; its `id` is None if there is none."""
        body = {"unique_key": unique_key, "reason": reason}
        return ask("POST", f"queues/{part(queue)}/jobs/cancel", body)


def push(
    queue: str,
    script: bodies.ScriptName,
    data: Any,
    options: dict[str, Any],
    key: str | None = None,
) -> Flow[str]:
    body = {"script": script, **options} | ({} if data is NOTHING else {"data": data})
    answer = yield from ask("POST", f"queues/{part(queue)}/jobs", body, key=_given(key))
    return answer["id"]  # type: ignore[no-any-return]


def _given(key: str | None) -> str | None:
    if key == "":
        raise ValueError("an idempotency key must not be empty")
    return key
