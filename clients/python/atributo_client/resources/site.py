"""The site itself: tokens, events, incidents, curators, locks and transactions of anybody."""

import builtins
from typing import Any, Literal, Unpack

from atributo_client.generated import answers, bodies, queries
from atributo_client.operation import Group, S, operation
from atributo_client.steps import Flow, PageOf, ask, page


class Tokens(Group[S]):
    @operation("tokens_list")
    def list(self, **filters: Unpack[queries.TokensListQuery]) -> Flow[PageOf[answers.Token]]:
        return page("tokens", filters)

    @operation("tokens_create")
    def create(
        self,
        name: str,
        level: Literal["view", "operate", "administer"],
        **options: Unpack[bodies.TokenOptions],
    ) -> Flow[answers.MadeToken]:
        """Make a token; it is in this answer and never shown again."""
        return ask("POST", "tokens", {"name": name, "level": level, **options}, key="")

    @operation("tokens_revoke")
    def revoke(self, token_id: int) -> Flow[None]:
        return ask("DELETE", f"tokens/{token_id:d}")


class Curators(Group[S]):
    @operation("curators_list")
    def list(self) -> Flow[builtins.list[answers.Curator]]:
        return ask("GET", "curators")

    @operation("curators_hand_over_create")
    def hand_over(self, reason: str) -> Flow[builtins.list[answers.Curator]]:
        return ask("POST", "curators/hand_over", {"reason": reason})


class Incidents(Group[S]):
    @operation("incidents_list")
    def list(self, **filters: Unpack[queries.IncidentsListQuery]) -> Flow[answers.Incidents]:
        """Return what is wrong now, and what was wrong in the chosen time."""
        return ask("GET", "incidents", params=filters)

    @operation("incidents_get")
    def get(self, incident_id: int) -> Flow[answers.Incident]:
        return ask("GET", f"incidents/{incident_id:d}")

    @operation("incidents_acknowledge")
    def acknowledge(self, incident_id: int, note: str = "") -> Flow[answers.Incident]:
        """Say that you look after it."""
        return ask("POST", f"incidents/{incident_id:d}/acknowledge", {"note": note})


class Locks(Group[S]):
    @operation("locks_list")
    def list(self, **filters: Unpack[queries.LocksListQuery]) -> Flow[PageOf[answers.Lock]]:
        return page("locks", filters)

    @operation("locks_release_create")
    def release(self, lock_id: int, reason: str) -> Flow[None]:
        return ask("POST", f"locks/{lock_id:d}/release", {"reason": reason})


class Transactions(Group[S]):
    """The transactions of everybody; `client.transaction()` begins one of your own."""

    @operation("transactions_list")
    def list(
        self, **filters: Unpack[queries.TransactionsListQuery]
    ) -> Flow[PageOf[answers.Transaction]]:
        return page("transactions", filters)

    @operation("transactions_one")
    def get(self, transaction_id: int) -> Flow[answers.Detail]:
        return ask("GET", f"transactions/{transaction_id:d}")

    @operation("transactions_complete_create")
    def complete(self, transaction_id: int, reason: str) -> Flow[answers.Transaction]:
        """Let the changes of somebody else's transaction stand; for administrators."""
        return ask("POST", f"transactions/{transaction_id:d}/complete", {"reason": reason})

    @operation("transactions_roll_back_create")
    def roll_back(self, transaction_id: int, reason: str) -> Flow[answers.Transaction]:
        """Undo the changes of somebody else's transaction; for administrators."""
        return ask("POST", f"transactions/{transaction_id:d}/roll_back", {"reason": reason})

    @operation("transactions_retry_create")
    def retry(self, transaction_id: int, reason: str) -> Flow[answers.Transaction]:
        """Try a stuck roll back again now."""
        return ask("POST", f"transactions/{transaction_id:d}/retry", {"reason": reason})


class Site(Group[S]):
    @operation("snapshot_retrieve")
    def snapshot(self) -> Flow[dict[str, Any]]:
        """Return the state of everything, as the dashboard shows it."""
        return ask("GET", "snapshot")

    @operation("kang_snapshot_retrieve")
    def kang_snapshot(self) -> Flow[dict[str, Any]]:
        return ask("GET", "kang/snapshot")

    @operation("events_list")
    def events(self, **filters: Unpack[queries.EventsListQuery]) -> Flow[PageOf[answers.Event]]:
        """Return what happened, newest first; `client.events()` follows what happens."""
        return page("events", filters)
