"""The records a resolver knows about its name, and until when each is believed."""

import math

from pools.logic.backends import Backend
from pools.logic.dns.config import ResolverConfig
from pools.logic.dns.names import fold
from pools.logic.dns.reply import LookupResult
from pools.logic.dns.targets import Target, carry_over, targets_of, use_additional
from pools.logic.dns.ttl import HOUR_MS, Stale, renewed

MINUTE_MS = 60_000.0
FAMILY_NAMES = {"AAAA": "IPv6 (AAAA)", "A": "IPv4 (A)"}


class RecordCache:
    """Take the outcomes of one pass after the other; `finish_pass` returns the backends."""

    def __init__(self, config: ResolverConfig) -> None:
        self.config = config
        self.targets: list[Target] = []
        self.srv_at = -math.inf
        self.stale: Stale | None = None
        self.srv_stale: Stale | None = None
        self.error: str | None = None
        self.additionals_used = 0
        self._cause = "error"
        self._srv_seen = self._address_seen = False
        self._srv_unknown = False
        self._srv_refusals = 0
        self._fallback: Target | None = None
        self._last_srv_ttl = self._last_ttl = MINUTE_MS

    def begin_pass(self) -> None:
        self.error = None
        self._cause = "error"
        self._fallback = None

    def due(self, family: str, now: float) -> list[str]:
        """Return the names whose addresses are to be asked for, each once."""
        names = [fold(t.name) for t in self._asked() if t.families[family].ask_at <= now]
        return list(dict.fromkeys(names))

    def _asked(self) -> list[Target]:
        return [self._fallback] if self._fallback else self.targets

    # -- SRV ---------------------------------------------------------------------------------

    def take_srv(self, outcome: LookupResult, families: tuple[str, ...], now: float) -> None:
        self._srv_unknown = outcome.kind in ("error", "refused")
        if outcome.kind == "records":
            self._use_srv(outcome, families, now)
            return
        name = self.config.service_name
        self.error = f'SRV lookup for "{name}" failed: {outcome.error}'
        if outcome.kind in ("nodata", "nxdomain", "notimp"):
            self._srv_absent(outcome, now)
        else:
            self._srv_gave_up(outcome, now)

    def _use_srv(self, outcome: LookupResult, families: tuple[str, ...], now: float) -> None:
        targets = targets_of(outcome.records)
        carry_over(self.targets, targets)
        useful = [record for record in outcome.additional if record.rdtype in families]
        ttls = [use_additional(target, useful) for target in targets]
        self.additionals_used += sum(ttl < math.inf for ttl in ttls)
        self._last_srv_ttl = self.config.ttl.clamp(min([outcome.ttl_ms, *ttls]))
        self.srv_at = now + self._last_srv_ttl
        self.targets = targets
        self._srv_seen, self._srv_refusals = True, 0
        self.srv_stale = None if targets else renewed(self.srv_stale, "none", now)
        if not targets:
            self.error = f'"{self.config.service_name}" says that there is no such service'

    def _srv_absent(self, outcome: LookupResult, now: float) -> None:
        """Without SRV records use the plain name, if necessary after a second answer."""
        negative = outcome.negative_ttl_ms
        if not self._srv_seen:
            self.srv_at = now + self.config.ttl.clamp(HOUR_MS if negative is None else negative)
            self._use_plain_name()
            return
        soon = self._last_srv_ttl if negative is None else min(negative, self._last_srv_ttl)
        self.srv_at = now + self.config.ttl.clamp(soon)
        self.srv_stale = renewed(self.srv_stale, _cause(outcome), now)
        self._srv_refusals += 1
        if self._srv_refusals >= self.config.srv_confirmations:
            self._fallback = Target(self.config.domain, self.config.default_port)

    def _srv_gave_up(self, outcome: LookupResult, now: float) -> None:
        if self._srv_seen:
            self.srv_stale = renewed(self.srv_stale, _cause(outcome), now)
            self.srv_at = now + self._last_srv_ttl
            return
        self.srv_at = now + (15 * MINUTE_MS if self._address_seen else self._last_srv_ttl)
        self._use_plain_name()

    def _use_plain_name(self) -> None:
        plain = Target(self.config.domain, self.config.default_port)
        carry_over(self.targets, [plain])
        self.targets = [plain]

    # -- addresses ---------------------------------------------------------------------------

    def take_addresses(self, name: str, family: str, outcome: LookupResult, now: float) -> None:
        for target in self._asked():
            if fold(target.name) == fold(name) and not target.from_additional:
                self._take_for(target, family, outcome, now)

    def _take_for(self, target: Target, family: str, outcome: LookupResult, now: float) -> None:
        addresses = target.families[family]
        if outcome.kind == "records":
            self._last_ttl = self.config.ttl.clamp(outcome.ttl_ms)
            addresses.values = tuple(dict.fromkeys(str(r.value) for r in outcome.records))
            addresses.ask_at = now + self._last_ttl
            addresses.stale = None
            self._address_seen = True
            return
        if addresses.values:
            addresses.stale = renewed(addresses.stale, _cause(outcome), now)
        addresses.ask_at = now + self._ask_again_ms(target, family, outcome)
        if addresses.values or _is_last_hope(target, family):
            self._note_failure(target, family, outcome)

    def _ask_again_ms(self, target: Target, family: str, outcome: LookupResult) -> float:
        """Ask soon if these addresses were known or are the last hope; else when "no" expires."""
        if outcome.kind == "error" and not self._address_seen:
            return self._pace_ms("dns")
        if target.families[family].values or _is_last_hope(target, family):
            return self._last_ttl
        negative = outcome.negative_ttl_ms
        return self.config.ttl.clamp(HOUR_MS if negative is None else negative)

    def _pace_ms(self, operation: str) -> float:
        """Look again at the slowest pace of the recovery while DNS has never answered at all."""
        delay_ms = self.config.recovery.operation(operation).monitoring().delay
        return self.config.ttl.clamp(delay_ms)

    def _note_failure(self, target: Target, family: str, outcome: LookupResult) -> None:
        text = f'{FAMILY_NAMES[family]} lookup for "{target.name}" failed: {outcome.error}'
        self.error = text if self.error is None else f"{self.error}; {text}"
        self._cause = _cause(outcome)

    # -- the end of a pass -------------------------------------------------------------------

    def finish_pass(self, now: float) -> dict[str, Backend]:
        """Drop what was kept long enough and return the backends of the rest."""
        if self._fallback and any(a.values for a in self._fallback.families.values()):
            self.targets = [self._fallback]  # the service has really moved to the plain name
            self._srv_seen, self.srv_stale = False, None
        self._drop_what_is_over(now)
        if self._srv_unknown and not (self._srv_seen or self._address_seen):
            self.srv_at = min(self.srv_at, now + self._pace_ms("dns_srv"))
        backends = {b.key: b for target in self.targets for b in target.backends()}
        if backends:
            self.stale = None
        return backends

    def may_empty(self, now: float) -> bool:
        """Return True if nothing was found and the old backends were kept long enough.

        Where no address was ever seen and SRV is not answered, the plain name means nothing.
        """
        if self._srv_unknown and not self._address_seen:
            self.stale = renewed(self.stale, "error", now)
        elif self.stale is None or self.stale.cause == "error":
            self.stale = renewed(self.stale, self._cause, now)
        if not self.config.stale.is_over(self.stale, now):
            return False
        self.stale = None
        return True

    def _drop_what_is_over(self, now: float) -> None:
        policy = self.config.stale
        for target in self.targets:
            for addresses in target.families.values():
                if addresses.stale is not None and policy.is_over(addresses.stale, now):
                    self.stale = addresses.stale
                    addresses.values, addresses.stale = (), None
        if self.srv_stale is not None and policy.is_over(self.srv_stale, now):
            self.targets, self.stale = [], self.srv_stale

    # -- times -------------------------------------------------------------------------------

    def stale_since(self) -> float | None:
        return min((mark.since for mark in self._marks()), default=None)

    def next_at(self, family: str) -> float:
        """Return when this family is asked for again; infinite if nothing is pending."""
        return min((t.families[family].ask_at for t in self.targets), default=math.inf)

    def next_drop_at(self, now: float) -> float:
        ends = [self.config.stale.drop_at(mark) for mark in self._marks()]
        return min((at for at in ends if at > now), default=math.inf)

    def expire(self, now: float) -> None:
        """Let everything expire, so that the next pass asks for all of it."""
        self.srv_at = min(self.srv_at, now)
        for target in self.targets:
            for addresses in target.families.values():
                if not target.from_additional:
                    addresses.ask_at = min(addresses.ask_at, now)

    def _marks(self) -> list[Stale]:
        marks = [self.stale, self.srv_stale]
        marks += [a.stale for target in self.targets for a in target.families.values()]
        return [mark for mark in marks if mark is not None]


def _is_last_hope(target: Target, family: str) -> bool:
    return family == "A" and not target.families["AAAA"].values


def _cause(outcome: LookupResult) -> str:
    if outcome.kind in ("nxdomain", "nodata", "refused"):
        return outcome.kind
    return "nodata" if outcome.kind == "notimp" else "error"
