"""The hosts behind a name and the addresses known for each."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from pools.logic.backends import Backend, make_backend
from pools.logic.dns.names import fold
from pools.logic.dns.reply import Record, Srv
from pools.logic.dns.ttl import Stale

FAMILIES = ("AAAA", "A")


@dataclass(slots=True)
class Addresses:
    """Hold the addresses of one family; `stale` is set while old ones are kept."""

    values: tuple[str, ...] = ()
    ask_at: float = -math.inf
    stale: Stale | None = None


@dataclass(slots=True)
class Target:
    name: str
    port: int
    priority: int = 0
    weight: int = 0
    from_additional: bool = False
    families: dict[str, Addresses] = field(
        default_factory=lambda: {family: Addresses() for family in FAMILIES}
    )

    @property
    def identity(self) -> tuple[str, int]:
        return fold(self.name), self.port

    def backends(self) -> Iterable[Backend]:
        for family in FAMILIES:
            for address in self.families[family].values:
                yield make_backend(self.name, address, self.port, self.priority, self.weight)


def targets_of(records: Iterable[Record]) -> list[Target]:
    """Return one target per (name, port); a target of "." means no such service."""
    targets: dict[tuple[str, int], Target] = {}
    for record in records:
        srv = record.value
        if isinstance(srv, Srv) and fold(srv.target):
            target = Target(srv.target, srv.port, srv.priority, srv.weight)
            targets.setdefault(target.identity, target)
    return list(targets.values())


def carry_over(old: Iterable[Target], new: Iterable[Target]) -> None:
    """Keep the known addresses of a target that a new SRV answer names again."""
    known = {target.identity: target for target in old}
    for target in new:
        before = known.get(target.identity)
        if before is None:
            continue
        target.families = before.families
        if before.from_additional:
            for addresses in target.families.values():
                addresses.ask_at = -math.inf


def use_additional(target: Target, records: Iterable[Record]) -> float:
    """Take the addresses that came along with the SRV answer; return their lowest TTL in ms."""
    own = [r for r in records if r.rdtype in FAMILIES and fold(r.name) == fold(target.name)]
    if not own:
        return math.inf
    target.from_additional = True
    for family in FAMILIES:
        values = tuple(dict.fromkeys(str(r.value) for r in own if r.rdtype == family))
        target.families[family] = Addresses(values, math.inf)
    return min(r.ttl for r in own) * 1000.0
