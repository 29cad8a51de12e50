"""The instances that job ids are allocated to: their availability, drains and heartbeats."""

from typing import Unpack

from atributo_client.generated import answers, bodies, queries
from atributo_client.operation import Group, S, operation
from atributo_client.steps import Flow, PageOf, ask, if_match, page, part


class Instances(Group[S]):
    @operation("instances_list")
    def list(self, **filters: Unpack[queries.InstancesListQuery]) -> Flow[PageOf[answers.Instance]]:
        return page("instances", filters)

    @operation("instances_create")
    def register(self, **instance: Unpack[bodies.NewInstance]) -> Flow[answers.Instance]:
        """Make an instance available, new or known."""
        return ask("POST", "instances", instance)

    @operation("instances_one")
    def get(self, instance_id: str) -> Flow[answers.Instance]:
        return ask("GET", f"instances/{part(instance_id)}")

    @operation("instances_partial_update")
    def change(
        self, instance_id: str, *, epoch: int | None = None, **settings: Unpack[bodies.Settings]
    ) -> Flow[answers.Instance]:
        """Change weight, capacity or labels."""
        path = f"instances/{part(instance_id)}"
        return ask("PATCH", path, settings, headers=if_match(epoch))

    @operation("instances_destroy")
    def remove(
        self,
        instance_id: str,
        *,
        epoch: int | None = None,
        **options: Unpack[queries.InstancesDestroyQuery],
    ) -> Flow[None]:
        """Remove it; with jobs only when their number is named as `drop_jobs`."""
        path = f"instances/{part(instance_id)}"
        return ask("DELETE", path, params=options, headers=if_match(epoch))

    @operation("instances_available_create")
    def available(
        self, instance_id: str, *, epoch: int | None = None, **wish: Unpack[bodies.Available]
    ) -> Flow[answers.Instance]:
        return _tell(instance_id, "available", wish, epoch)

    @operation("instances_unavailable_create")
    def unavailable(
        self, instance_id: str, *, epoch: int | None = None, **wish: Unpack[bodies.Why]
    ) -> Flow[answers.Instance]:
        return _tell(instance_id, "unavailable", wish, epoch)

    @operation("instances_drain_create")
    def drain(
        self, instance_id: str, *, epoch: int | None = None, **wish: Unpack[bodies.DrainWish]
    ) -> Flow[answers.Instance]:
        """Start a drain, or change the one that runs."""
        return _tell(instance_id, "drain", wish, epoch)

    @operation("instances_drain_destroy")
    def stop_drain(self, instance_id: str, *, epoch: int | None = None) -> Flow[answers.Instance]:
        """Stop its drain; the instance stays unavailable."""
        return ask("DELETE", f"instances/{part(instance_id)}/drain", headers=if_match(epoch))

    @operation("instances_restore_create")
    def restore(
        self, instance_id: str, *, epoch: int | None = None, **wish: Unpack[bodies.Why]
    ) -> Flow[answers.Instance]:
        """Available again; whoever brought it here decides from now on."""
        return _tell(instance_id, "restore", wish, epoch)

    @operation("instances_heartbeat_create")
    def heartbeat(self, instance_id: str, seconds: float) -> Flow[answers.Instance]:
        """Keep an available instance alive for so many seconds."""
        return _tell(instance_id, "heartbeat", {"seconds": seconds}, None)

    @operation("instances_jobs_list")
    def jobs(
        self, instance_id: str, **filters: Unpack[queries.InstancesJobsListQuery]
    ) -> Flow[PageOf[answers.Job]]:
        return page(f"instances/{part(instance_id)}/jobs", filters)

    @operation("instances_removal_retrieve")
    def removal(self, instance_id: str) -> Flow[answers.Removal]:
        """Say whether it may be removed now, and what it still has."""
        return ask("GET", f"instances/{part(instance_id)}/removal")


def _tell(instance_id: str, verb: str, wish: object, epoch: int | None) -> Flow[answers.Instance]:
    return ask("POST", f"instances/{part(instance_id)}/{verb}", wish, headers=if_match(epoch))
