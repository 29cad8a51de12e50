"""Pools of backends that DNS names, and look-ups."""

from typing import Unpack

from atributo_client.generated import answers, bodies, queries
from atributo_client.operation import Group, S, operation
from atributo_client.steps import Flow, PageOf, ask, page, part


class Pools(Group[S]):
    @operation("pools_list")
    def list(self, **filters: Unpack[queries.PoolsListQuery]) -> Flow[PageOf[answers.Pool]]:
        return page("pools", filters)

    @operation("pools_create")
    def create(
        self, name: str, domain: str, **options: Unpack[bodies.PoolOptions]
    ) -> Flow[answers.Pool]:
        return ask("POST", "pools", {"name": name, "domain": domain, **options})

    @operation("pools_retrieve")
    def get(self, name: str) -> Flow[answers.Pool]:
        return ask("GET", f"pools/{part(name)}")

    @operation("pools_partial_update")
    def change(self, name: str, **changes: Unpack[bodies.PoolSettings]) -> Flow[answers.Pool]:
        return ask("PATCH", f"pools/{part(name)}", changes)

    @operation("pools_destroy")
    def delete(self, name: str) -> Flow[None]:
        return ask("DELETE", f"pools/{part(name)}")

    @operation("pools_backends_list")
    def backends(
        self, name: str, **filters: Unpack[queries.PoolsBackendsListQuery]
    ) -> Flow[PageOf[answers.Backend]]:
        return page(f"pools/{part(name)}/backends", filters)

    @operation("pools_backends_partial_update")
    def administer(
        self, name: str, backend: str, **changes: Unpack[bodies.Administration]
    ) -> Flow[answers.Backend]:
        """Set a backend ready, to drain or into maintenance."""
        return ask("PATCH", f"pools/{part(name)}/backends/{part(backend)}", changes)

    @operation("pools_changes_list")
    def changes(
        self, name: str, **filters: Unpack[queries.PoolsChangesListQuery]
    ) -> Flow[PageOf[answers.BackendChange]]:
        return page(f"pools/{part(name)}/changes", filters)

    @operation("pools_pause")
    def pause(self, name: str) -> Flow[answers.Pool]:
        return ask("POST", f"pools/{part(name)}/pause")

    @operation("pools_resume")
    def resume(self, name: str) -> Flow[answers.Pool]:
        return ask("POST", f"pools/{part(name)}/resume")

    @operation("pools_resolve_create")
    def resolve(self, name: str) -> Flow[answers.Pool]:
        """Ask for a look-up soon."""
        return ask("POST", f"pools/{part(name)}/resolve")

    @operation("resolve_create")
    def look_up(self, host: str, **options: Unpack[bodies.LookUpOptions]) -> Flow[answers.LookedUp]:
        """Look a name up now, step by step, without a pool."""
        return ask("POST", "resolve", {"host": host, **options})
