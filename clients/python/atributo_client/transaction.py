"""A transaction held over several requests: complete at the end, rolled back by an exception."""

from types import TracebackType
from typing import Any, Literal, Unpack

from atributo_client.failures import AtributoError
from atributo_client.generated import answers, bodies
from atributo_client.generated.errors import TransactionIsOver
from atributo_client.operation import Group, S, operation
from atributo_client.resources.queues import push
from atributo_client.shells import AsyncShell, Shell
from atributo_client.steps import NOTHING, Flow, ask


class Transaction(Group[S]):
    """Begun by `with` or `async with`.

    A locked key or a refused write rolls all of it back: RollbackCausedByException.
    """

    def __init__(self, shell: S, label: str) -> None:
        super().__init__(shell)
        self.label = label
        self._id: int | None = None

    @property
    def id(self) -> int:
        if self._id is None:
            raise RuntimeError("the transaction has not begun: use it in a with statement")
        return self._id

    @operation("transactions_create")
    def begin(self) -> Flow[int]:
        """What `with` does first; return the id."""
        body = {"label": self.label} if self.label else {}
        begun = yield from ask("POST", "transactions", body)
        self._id = begun["id"]
        return self.id

    @operation("transactions_complete_create")
    def complete(self) -> Flow[answers.Transaction]:
        """Let all changes stand; `with` does so at its end."""
        return ask("POST", f"transactions/{self.id}/complete", {})

    @operation("transactions_roll_back_create")
    def roll_back(self) -> Flow[answers.Transaction]:
        """Undo all changes; `with` does so for an exception."""
        return ask("POST", f"transactions/{self.id}/roll_back", {})

    @operation("transactions_operations_create")
    def get(
        self,
        collection: str,
        key: str,
        ref: str | None = None,
        *,
        shared: bool = False,
        wait: float = 0,
    ) -> Flow[answers.Done]:
        """Lock the key and read it; DocumentNotFound of a missing one ends nothing."""
        return self._operate("get", collection, key=key, ref=ref, shared=shared, wait=wait)

    @operation("transactions_operations_create")
    def put(
        self,
        collection: str,
        key: str,
        value: Any,
        ref: str | Literal[False] | None = None,
        *,
        wait: float = 0,
    ) -> Flow[answers.Done]:
        """Write; with a ref only over that version, with False only if the key is new."""
        demand = {"create_only": True} if ref is False else {"ref": ref}
        return self._operate("put", collection, value, key=key, wait=wait, **demand)

    @operation("transactions_operations_create")
    def post(self, collection: str, value: Any) -> Flow[answers.Done]:
        """Write a value under a new key."""
        return self._operate("post", collection, value)

    @operation("transactions_operations_create")
    def delete(
        self, collection: str, key: str, ref: str | None = None, *, wait: float = 0
    ) -> Flow[answers.Done]:
        return self._operate("delete", collection, key=key, ref=ref, wait=wait)

    @operation("transactions_operations_create")
    def lock(
        self, collection: str, key: str, *, shared: bool = False, wait: float = 0
    ) -> Flow[answers.Done]:
        return self._operate("lock", collection, key=key, shared=shared, wait=wait)

    @operation("transactions_operations_create")
    def list(
        self, collection: str, *, limit: int = 50, after: str | None = None
    ) -> Flow[answers.Page]:
        """Return what is committed and what this transaction wrote."""
        done = yield from self._operate("list", collection, limit=limit, after=after)
        return done["value"]  # type: ignore[no-any-return]

    @operation("transactions_operations_create")
    def search(
        self, collection: str, query: str, *, sort: str = "", limit: int = 50, offset: int = 0
    ) -> Flow[answers.Page]:
        page = {"limit": limit, "offset": offset, "sort": sort or None}
        done = yield from self._operate("search", collection, query=query, **page)
        return done["value"]  # type: ignore[no-any-return]

    @operation("transactions_renew_create")
    def renew(self) -> Flow[answers.Transaction]:
        """Live on for another full time, up to the hard limit."""
        return ask("POST", f"transactions/{self.id}/renew")

    @operation("queues_jobs_push")
    def push(
        self,
        queue: str,
        script: bodies.ScriptName,
        data: Any = NOTHING,
        **options: Unpack[bodies.PushOptions],
    ) -> Flow[str]:
        """Push a job that appears when the transaction completes, and never otherwise."""
        return push(queue, script, data, {**options, "transaction": self.id})

    def _operate(
        self, op: str, collection: str, value: Any = NOTHING, **members: Any
    ) -> Flow[answers.Done]:
        given = {name: member for name, member in members.items() if member is not None}
        body = {"op": op, "collection": collection, **given}
        if value is not NOTHING:
            body["value"] = value
        return ask("POST", f"transactions/{self.id}/operations", body)

    def _end(self, error: BaseException | None) -> Flow[None]:
        if error is None:
            yield from ask("POST", f"transactions/{self.id}/complete", {})
            return
        try:
            yield from ask("POST", f"transactions/{self.id}/roll_back", {})
        except TransactionIsOver:
            pass  # rolled back by what failed
        except AtributoError as second:
            error.add_note(f"Transaction {self.id} was not rolled back here: {second}")

    def __enter__(self: "Transaction[Shell]") -> "Transaction[Shell]":
        self.begin()
        return self

    def __exit__(
        self: "Transaction[Shell]",
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._shell.run(self._end(error))

    async def __aenter__(self: "Transaction[AsyncShell]") -> "Transaction[AsyncShell]":
        await self.begin()
        return self

    async def __aexit__(
        self: "Transaction[AsyncShell]",
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._shell.run(self._end(error))
