"""Client and AsyncClient: the same operations, to be called or to be awaited."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, Self, TypeVar, Unpack

from atributo_client.generated import answers, bodies
from atributo_client.operation import Group, S, operation
from atributo_client.presence import Presence
from atributo_client.resources.allocations import Allocations, JobIds
from atributo_client.resources.documents import Documents
from atributo_client.resources.instances import Instances
from atributo_client.resources.jobs import Batches, Jobs, Operations
from atributo_client.resources.pools import Pools
from atributo_client.resources.queues import Queues
from atributo_client.resources.schedules import Schedules
from atributo_client.resources.services import Scripts, Services
from atributo_client.resources.site import Curators, Incidents, Locks, Site, Tokens, Transactions
from atributo_client.retries import Retries
from atributo_client.shells import AsyncShell, Settings, Shell
from atributo_client.steps import Flow, PageOf, ask, following
from atributo_client.stream import Following, Message, follow, follow_async
from atributo_client.transaction import Transaction

T = TypeVar("T")


class Root(Group[S]):
    """The groups of operations, and those that are used most."""

    def __init__(self, shell: S) -> None:
        super().__init__(shell)
        self.allocations: Allocations[S] = Allocations(shell)
        self.batches: Batches[S] = Batches(shell)
        self.curators: Curators[S] = Curators(shell)
        self.documents: Documents[S] = Documents(shell)
        self.incidents: Incidents[S] = Incidents(shell)
        self.instances: Instances[S] = Instances(shell)
        self.job_ids: JobIds[S] = JobIds(shell)
        self.jobs: Jobs[S] = Jobs(shell)
        self.locks: Locks[S] = Locks(shell)
        self.operations: Operations[S] = Operations(shell)
        self.pools: Pools[S] = Pools(shell)
        self.queues: Queues[S] = Queues(shell)
        self.schedules: Schedules[S] = Schedules(shell)
        self.scripts: Scripts[S] = Scripts(shell)
        self.services: Services[S] = Services(shell)
        self.site: Site[S] = Site(shell)
        self.tokens: Tokens[S] = Tokens(shell)
        self.transactions: Transactions[S] = Transactions(shell)

    allocate = Allocations.allocate
    allocate_many = Allocations.allocate_many
    deallocate = Allocations.deallocate
    push = Queues.push
    push_many = Queues.push_many
    wait = Jobs.wait

    @operation("me_retrieve")
    def me(self) -> Flow[answers.Me]:
        """Say who asks, and what the token allows."""
        return ask("GET", "me")

    def transaction(self, label: str = "") -> Transaction[S]:
        """Begin a transaction by `with`; it completes at the end, or is rolled back."""
        return Transaction(self._shell, label)

    def instance(
        self,
        instance_id: str,
        *,
        drain: bodies.DrainWish | None = None,
        **wish: Unpack[bodies.Available],
    ) -> Presence[S]:
        """Keep an instance available inside `with`, and drain it at the end."""
        return Presence(self._shell, instance_id, {"lease_seconds": 30.0, **wish}, drain)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shell.settings.url!r})"


class Client(Root[Shell]):
    """A client whose methods return when the answer has come. Threads may share it."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_seconds: float = 30.0,
        retries: Retries | None = None,
        verify: Any = True,
    ) -> None:
        """`verify` is as in httpx: True, False or an ssl.SSLContext."""
        super().__init__(Shell(Settings(url, token, timeout_seconds, retries or Retries(), verify)))

    def every(self, page: PageOf[T]) -> Iterator[T]:
        """Go through this page and all that follow it."""
        yield from page
        while page.next:
            page = self._shell.run(following(page))
            yield from page

    def events(
        self,
        *topics: str,
        hints: bool = False,
        last_event_id: str = "",
        give_up_after: int | None = None,
    ) -> Iterator[Message]:
        """Follow what happens, and reconnect; no event is missed and none comes twice."""
        state = Following(self._shell.settings, topics, hints, last_event_id)
        return follow(self._shell, state, give_up_after)

    def close(self) -> None:
        self._shell.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncClient(Root[AsyncShell]):
    """The same for asyncio: methods are coroutines."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_seconds: float = 30.0,
        retries: Retries | None = None,
        verify: Any = True,
    ) -> None:
        settings = Settings(url, token, timeout_seconds, retries or Retries(), verify)
        super().__init__(AsyncShell(settings))

    async def every(self, page: PageOf[T]) -> AsyncIterator[T]:
        """Go through this page and all that follow it."""
        for each in page:
            yield each
        while page.next:
            page = await self._shell.run(following(page))
            for each in page:
                yield each

    def events(
        self,
        *topics: str,
        hints: bool = False,
        last_event_id: str = "",
        give_up_after: int | None = None,
    ) -> AsyncIterator[Message]:
        """Follow what happens, and reconnect; no event is missed and none comes twice."""
        state = Following(self._shell.settings, topics, hints, last_event_id)
        return follow_async(self._shell, state, give_up_after)

    async def close(self) -> None:
        await self._shell.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
