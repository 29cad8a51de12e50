"""Walk from a name to its backends: SRV, AAAA, A, then sleep until something expires."""

import itertools
import math
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pools.logic.backends import Backend
from pools.logic.dns.config import ResolverConfig
from pools.logic.dns.lookup import Ask, Forget, Lookup, Step, sample
from pools.logic.dns.record_cache import RecordCache
from pools.logic.dns.reply import LookupResult
from pools.logic.dns.ttl import spread

TRACE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Added:
    backend: Backend


@dataclass(frozen=True, slots=True)
class Removed:
    backend: Backend


@dataclass(frozen=True, slots=True)
class Updated:
    """Report that one pass is over; `error` says what went wrong in it."""

    error: str | None


@dataclass(frozen=True, slots=True)
class StateChanged:
    state: str


Action = Ask | Forget | Added | Removed | Updated | StateChanged


class ResolverMachine:
    """Feed it start, answers, nameservers and the time; it returns what to send and announce."""

    def __init__(
        self,
        config: ResolverConfig,
        chance: Callable[[], float],
        nameservers: Sequence[str] = (),
        has_ipv6: bool = True,
    ) -> None:
        self.config = config
        self.has_ipv6 = has_ipv6
        self.nameservers = list(nameservers)
        self.state = "stopped"
        self.phase = "stopped"
        self.backends: dict[str, Backend] = {}
        self.last_error: str | None = None
        self.wake_at = math.inf
        self.pass_began_at = -math.inf
        self.counters: Counter[str] = Counter()
        self.trace: deque[Step] = deque(maxlen=TRACE_LENGTH)
        self.records = RecordCache(config)
        self._chance = chance
        self._ids = itertools.count(1)
        self._actions: list[Action] = []
        self._lookups: list[Lookup] = []
        self._waiting: deque[tuple[str, str]] = deque()
        self._announced = False

    def successor(self) -> "ResolverMachine":
        """Return a machine that knows the same backends and looks at once; for a forked child."""
        heir = ResolverMachine(self.config, self._chance, self.nameservers, self.has_ipv6)
        if self.state in ("starting", "running", "failed"):
            heir.state, heir.phase = self.state, "sleep" if self.nameservers else "bootstrap"
            heir.backends = dict(self.backends)
            heir.last_error = self.last_error
            heir._announced = self._announced
            heir.wake_at = -math.inf if self.nameservers else math.inf
        return heir

    # -- events ------------------------------------------------------------------------------

    def start(self, now: float) -> list[Action]:
        if self.state != "stopped":
            return []
        self.records = RecordCache(self.config)
        self._announced = False  # a restart announces everything again
        self._enter("starting")
        self.phase = "bootstrap"
        if self.nameservers:
            self._begin_pass(now)
        return self._take()

    def stop(self) -> list[Action]:
        """Stop; only the two changes of state are announced after this."""
        if self.state not in ("starting", "running", "failed"):
            return []
        self._enter("stopping")
        for lookup in self._lookups:
            self._actions += lookup.abandon()
        self._lookups = []
        self._waiting.clear()
        self.phase, self.wake_at = "stopped", math.inf
        self._enter("stopped")
        return self._take()

    def set_nameservers(self, servers: Sequence[str], now: float) -> list[Action]:
        """Use these nameservers; an empty list is ignored, so that the last one stays."""
        self.nameservers = list(servers) or self.nameservers
        if self.phase == "bootstrap" and self.nameservers:
            self._begin_pass(now)
        return self._take()

    def no_nameservers(self, error: str) -> list[Action]:
        """Report that no nameserver was found so far."""
        if self.phase == "bootstrap":
            self._report(f"no nameserver is known: {error}")
        return self._take()

    def answer(self, ask_id: int, outcome: LookupResult, now: float) -> list[Action]:
        for lookup in self._lookups:
            if lookup.owns(ask_id):
                self._count(outcome)
                self._actions += lookup.answer(ask_id, outcome, now)
                self._after(lookup, now)
                break
        return self._take()

    def hold(self, ask_id: int) -> list[Action]:
        """Note that a question waits in our own queue: its time has not begun."""
        for lookup in self._lookups:
            if lookup.owns(ask_id):
                lookup.hold(ask_id)
                self._set_wake()
        return []

    def sent(self, ask_id: int, now: float) -> list[Action]:
        for lookup in self._lookups:
            if lookup.owns(ask_id):
                lookup.sent(ask_id, now)
                self._set_wake()
        return []

    def tick(self, now: float) -> list[Action]:
        if self.phase == "sleep" and now >= self.wake_at:
            self._begin_pass(now)
        for lookup in list(self._lookups):
            before = len(lookup.steps)
            self._actions += lookup.tick(now)
            self.counters["timeout"] += len(lookup.steps) - before
            self._after(lookup, now)
        return self._take()

    def resolve_now(self, now: float) -> list[Action]:
        """Look again at once, or as soon as the last pass is older than the floor."""
        if self.phase == "sleep":
            self.records.expire(now)
            earliest = self.pass_began_at + self.config.ttl.floor_ms
            self.wake_at = min(self.wake_at, max(now, earliest))
        return self.tick(now)

    # -- one pass ----------------------------------------------------------------------------

    def _begin_pass(self, now: float) -> None:
        self.pass_began_at = now
        self.wake_at = math.inf
        self.records.begin_pass()
        if self.records.srv_at <= now:
            self.phase = "srv"
            self._look_up(self.config.service_name, "SRV", now)
        else:
            self.counters["srv-skipped"] += 1
            self._begin_family("AAAA", now)

    def _begin_family(self, family: str, now: float) -> None:
        self.phase = family.lower()
        if family in self._families():
            self._waiting.extend((name, family) for name in self.records.due(family, now))
        self._go_on(now)

    def _families(self) -> tuple[str, ...]:
        return ("AAAA", "A") if self.has_ipv6 else ("A",)

    def _go_on(self, now: float) -> None:
        """Ask as much as may be under way at once; take the next phase when all is answered."""
        while self._waiting and len(self._lookups) < self._parallel():
            name, family = self._waiting.popleft()
            self._look_up(name, family, now)
        if self._lookups:
            self._set_wake()
        elif self.phase == "aaaa":
            self._begin_family("A", now)
        elif self.phase == "a":
            self._end_pass(now)

    def _fan_out(self) -> int:
        return min(self.config.max_dns_concurrency, len(self.nameservers))

    def _parallel(self) -> int:
        return max(1, self.config.max_dns_concurrency // max(1, self._fan_out()))

    def _look_up(self, name: str, rdtype: str, now: float) -> None:
        recovery = self.config.recovery.operation("dns_srv" if rdtype == "SRV" else "dns")
        lookup = Lookup(name, rdtype, recovery, self._choose, self._ids.__next__, self._chance)
        self._lookups.append(lookup)
        self._actions += lookup.ask(now)
        self._set_wake()

    def _choose(self) -> list[str]:
        return sample(self.nameservers, self._fan_out(), self._chance)

    def _set_wake(self) -> None:
        self.wake_at = min(lookup.wake_at for lookup in self._lookups)

    def _after(self, lookup: Lookup, now: float) -> None:
        if lookup.outcome is None:
            self._set_wake()
            return
        self._lookups.remove(lookup)
        self.trace.extend(lookup.steps)
        if lookup.rdtype == "SRV":
            self.counters["srv-failure"] += lookup.outcome.kind != "records"
            self.records.take_srv(lookup.outcome, self._families(), now)
            self._begin_family("AAAA", now)
        else:
            self.records.take_addresses(lookup.name, lookup.rdtype, lookup.outcome, now)
            self._go_on(now)

    # -- the end of a pass -------------------------------------------------------------------

    def _end_pass(self, now: float) -> None:
        backends = self.records.finish_pass(now)
        if backends:
            self._announce(backends)
        else:
            self.counters["empty-set"] += 1
            if self.backends and self.records.may_empty(now):
                self._announce({})
        is_old = self.records.stale_since() is not None
        self._report(self.records.error if is_old or not backends else None)
        self._sleep(now)

    def _announce(self, backends: dict[str, Backend]) -> None:
        """Announce first what is gone, then what is new; a changed weight counts as new."""
        known = self.backends if self._announced else {}
        gone = [b for key, b in self.backends.items() if key not in backends]
        new = [b for key, b in backends.items() if known.get(key) != b]
        self._announced = True
        self.counters["backend-removed"] += len(gone)
        self.counters["backend-added"] += len(new)
        self._actions += [Removed(backend) for backend in gone]
        self._actions += [Added(backend) for backend in new]
        self.backends = backends

    def _report(self, error: str | None) -> None:
        if error is not None and not self.backends:
            error = f"failed to find any DNS records for {self.config.display_name}: {error}"
        self.last_error = error
        self._actions.append(Updated(error))
        if self._announced and self.state in ("starting", "failed"):
            self._enter("running")
        elif self.state == "starting":
            self._enter("failed")

    def _sleep(self, now: float) -> None:
        self.phase = "sleep"
        expiry = min(self.records.srv_at, *(self.records.next_at(f) for f in self._families()))
        share = self.config.recovery.operation("dns").delay_spread
        at = now + spread(max(0.0, expiry - now), share, self._chance())
        at = min(at, self.records.next_drop_at(now))
        self.wake_at = max(at, self.pass_began_at + self.config.ttl.floor_ms)
        self.counters["max-sleep"] = max(self.counters["max-sleep"], round(self.wake_at - now))

    def _count(self, outcome: LookupResult) -> None:
        kind = {"records": "ok", "error": outcome.error.lower()}.get(outcome.kind, outcome.kind)
        self.counters[f"rcode-{kind}"] += 1

    def _enter(self, state: str) -> None:
        self.state = state
        self._actions.append(StateChanged(state))

    def _take(self) -> list[Action]:
        actions, self._actions = self._actions, []
        return actions
