"""One watched name in the watcher's memory: its resolver, and the readings not yet stored."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pools.address_policy import check_nameservers, default_nameservers, may_be_asked
from pools.logic.backends import Backend as DnsBackend
from pools.logic.dns.lookup import Step
from pools.models import Backend, Pool
from pools.net.dns.resolver import DNSResolver
from pools.net.runtime.driver import Driver


@dataclass(frozen=True)
class Reading:
    """Hold what the resolver knows at the end of one pass; moments are of the driver's clock."""

    at: float
    began_at: float
    state: str
    backends: Mapping[str, DnsBackend]
    error: str | None
    stale_since: float | None
    next_at: Mapping[str, float]
    steps: Sequence[Step]


class RememberingResolver(DNSResolver):
    """Begin with the known backends, so that a failure at the start removes none."""

    def __init__(self, known: Mapping[str, DnsBackend], **options: Any) -> None:
        super().__init__(**options)
        self._machine.backends = dict(known)


class WatchedName:
    """The driver's thread appends readings, the watcher takes them."""

    def __init__(self, pool: Pool, known: Iterable[Backend], driver: Driver | None) -> None:
        check_nameservers(pool.nameservers)  # what is permitted may have changed since
        self.pool_id = pool.pk
        self.epoch = pool.epoch
        self.asked_at = pool.asked_at
        self.unconfirmed: frozenset[str] = frozenset()
        self.readings: deque[Reading] = deque()
        self._read_at = float("-inf")
        self._gist: tuple[Any, ...] = ()
        self.resolver = RememberingResolver(
            known={row.key: _as_dns_backend(row) for row in known},
            domain=pool.domain,
            recovery=pool.recovery,
            service=pool.service,
            default_port=pool.default_port,
            resolvers=pool.nameservers,
            ttl_floor=pool.ttl_floor_ms,
            ttl_ceiling=pool.ttl_ceiling_ms,
            driver=driver,
            system=default_nameservers,
            permits=may_be_asked,
        )
        self.resolver.follow("updated", self._read)
        self.resolver.start()

    def has_news(self) -> bool:
        """Return whether a reading differs from the last stored one, or may confirm a removal."""
        return bool(self.unconfirmed) or any(_gist(each) != self._gist for each in self.readings)

    def written(self) -> None:
        """Drop the oldest reading, which is stored."""
        self._gist = _gist(self.readings.popleft())

    def _read(self, error: Exception | None) -> None:
        resolver, since = self.resolver, self._read_at
        self._read_at = resolver.driver.now()
        self.readings.append(
            Reading(
                at=self._read_at,
                began_at=resolver.pass_began_at,
                state=resolver.state,
                backends=resolver.list(),
                error=None if error is None else str(error),
                stale_since=resolver.stale_since,
                next_at=resolver.next_at(),
                steps=[step for step in resolver.trace if step.at > since],
            )
        )


def _gist(reading: Reading) -> tuple[Any, ...]:
    return reading.state, reading.error, reading.stale_since, frozenset(reading.backends.values())


def _as_dns_backend(row: Backend) -> DnsBackend:
    return DnsBackend(row.name, row.address, row.port, row.key, row.priority, row.weight)
