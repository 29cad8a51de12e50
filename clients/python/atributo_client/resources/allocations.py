"""Where job ids have their place, and what would move."""

import builtins
from collections.abc import Sequence
from typing import Any, Unpack

from atributo_client.generated import answers, bodies, queries
from atributo_client.operation import Group, S, operation
from atributo_client.steps import Flow, PageOf, ask, if_match, page, part


class Allocations(Group[S]):
    @operation("allocations_list")
    def list(
        self, **filters: Unpack[queries.AllocationsListQuery]
    ) -> Flow[PageOf[answers.Allocation]]:
        return page("allocations", filters)

    @operation("allocations_one")
    def get(self, job_id: str) -> Flow[answers.Allocation]:
        return ask("GET", f"allocations/{part(job_id)}")

    @operation("allocations_update")
    def allocate(
        self,
        job_id: str,
        *,
        labels: dict[str, str] | None = None,
        epoch: int | None = None,
        only_new: bool = False,
    ) -> Flow[answers.Allocated]:
        """Return the instance of a job id; it stays the same while the instance is available."""
        condition = {"If-None-Match": "*"} if only_new else if_match(epoch)
        body = {} if labels is None else {"labels": labels}
        return ask("PUT", f"allocations/{part(job_id)}", body, headers=condition)

    @operation("allocations_destroy")
    def deallocate(self, job_id: str, *, epoch: int | None = None) -> Flow[None]:
        return ask("DELETE", f"allocations/{part(job_id)}", headers=if_match(epoch))

    @operation("allocations_batch_create")
    def allocate_many(
        self, job_ids: Sequence[str], *, labels: dict[str, str] | None = None
    ) -> Flow[builtins.list[answers.BatchItem]]:
        """Return an item for each job id, in their order; one that failed has a `code`."""
        body: bodies.Batch = {"job_ids": builtins.list(job_ids), "operation": "allocate"}
        if labels is not None:
            body["labels"] = labels
        return (yield from ask("POST", "allocations/batch", body))["results"]  # type: ignore[no-any-return]

    @operation("allocations_batch_create")
    def deallocate_many(self, job_ids: Sequence[str]) -> Flow[int]:
        """Return how many of them were allocated."""
        body: bodies.Batch = {"job_ids": builtins.list(job_ids), "operation": "deallocate"}
        return (yield from ask("POST", "allocations/batch", body))["deallocated"]  # type: ignore[no-any-return]

    @operation("allocations_explanation_retrieve")
    def explain(self, job_id: str) -> Flow[dict[str, Any]]:
        return ask("GET", f"allocations/{part(job_id)}/explanation")

    @operation("allocations_plan_create")
    def plan(self, **plan: Unpack[bodies.Plan]) -> Flow[answers.Planned]:
        """Say what a drain, a rebalance or allocations would do; nothing is changed."""
        return ask("POST", "allocations/plan", plan)


class JobIds(Group[S]):
    @operation("job_ids_create")
    def make(self, count: int = 1) -> Flow[answers.Made]:
        return ask("POST", "job-ids", {"count": count})

    @operation("job_ids_decode")
    def decode(self, job_id: str) -> Flow[answers.Decoded]:
        """Say when and where a job id was made."""
        return ask("GET", f"job-ids/{part(job_id)}")
