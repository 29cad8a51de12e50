"""Put one question to several nameservers at once, and repeat it if none of them knew."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pools.logic.dns.reply import LookupResult, timed_out
from pools.logic.recovery import Recovery

FINAL = {"nodata", "nxdomain", "refused"}  # asking again would bring the same
UNIMPLEMENTED_IS_FINAL = {"SRV", "AAAA"}


@dataclass(frozen=True, slots=True)
class Ask:
    """Send this question to this nameserver."""

    id: int
    server: str
    name: str
    rdtype: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Drop the answer to this question: it does not matter any more."""

    id: int


@dataclass(frozen=True, slots=True)
class Step:
    """Record what happened to one question; people read these steps as the trace."""

    at: float
    server: str
    name: str
    rdtype: str
    attempt: int
    took_ms: float
    result: str
    ttl_ms: float


class Lookup:
    """Feed it answers and the time; `outcome` is set when it is over, `wake_at` until then."""

    def __init__(
        self,
        name: str,
        rdtype: str,
        recovery: Recovery,
        servers: Callable[[], Sequence[str]],
        new_id: Callable[[], int],
        chance: Callable[[], float],
    ) -> None:
        self.name = name
        self.rdtype = rdtype
        self.outcome: LookupResult | None = None
        self.wake_at = math.inf
        self.attempt = 0
        self.steps: list[Step] = []
        self._recovery = recovery
        self._servers = servers
        self._new_id = new_id
        self._chance = chance
        self._asked: dict[int, Ask] = {}
        self._sent_at: dict[int, float] = {}
        self._outcomes: list[LookupResult] = []

    def ask(self, now: float) -> list[Ask]:
        self.attempt += 1
        self._outcomes = []
        asks = [Ask(self._new_id(), s, self.name, self.rdtype) for s in self._servers()]
        self._asked = {ask.id: ask for ask in asks}
        self._sent_at = {ask.id: now for ask in asks}
        self._set_wake()
        return asks

    def hold(self, ask_id: int) -> None:
        """Stop the clock of a question that waits in our own queue."""
        self._sent_at[ask_id] = math.inf
        self._set_wake()

    def sent(self, ask_id: int, now: float) -> None:
        self._sent_at[ask_id] = now
        self._set_wake()

    def _set_wake(self) -> None:
        earliest = min((self._sent_at[ask_id] for ask_id in self._asked), default=math.inf)
        self.wake_at = earliest + self._recovery.timeout

    def owns(self, ask_id: int) -> bool:
        return ask_id in self._asked

    def answer(self, ask_id: int, outcome: LookupResult, now: float) -> list[Forget]:
        """End the look-up if there are records; else wait for the other nameservers."""
        self._note(self._asked.pop(ask_id), outcome, now)
        self._outcomes.append(outcome)
        if outcome.kind == "records" or not self._asked:
            return self._conclude(now)
        return []

    def tick(self, now: float) -> list[Ask | Forget]:
        if self.outcome is not None or now < self.wake_at:
            return []
        if not self._asked:
            return list(self.ask(now))
        limit_ms = self._recovery.timeout
        due = [each for each in self._asked if self._sent_at[each] + limit_ms <= now]
        for ask_id in due:
            late = timed_out(limit_ms)
            self._note(self._asked.pop(ask_id), late, now)
            self._outcomes.append(late)
        forgotten = [Forget(ask_id) for ask_id in due]
        if self._asked:
            self._set_wake()
            return list(forgotten)
        return [*forgotten, *self._conclude(now)]

    def abandon(self) -> list[Forget]:
        forgotten = [Forget(ask_id) for ask_id in self._asked]
        self._asked = {}
        return forgotten

    def _conclude(self, now: float) -> list[Forget]:
        forgotten = self.abandon()
        best = combine(self._outcomes)
        if self._is_final(best) or self.attempt >= self._recovery.attempts:
            self.outcome = best
            self.wake_at = math.inf
        else:
            self.wake_at = now + self._recovery.delay_ms(self.attempt, self._chance())
        return forgotten

    def _is_final(self, outcome: LookupResult) -> bool:
        if outcome.kind == "notimp":
            return self.rdtype in UNIMPLEMENTED_IS_FINAL
        return outcome.kind == "records" or outcome.kind in FINAL

    def _note(self, ask: Ask, outcome: LookupResult, now: float) -> None:
        result = outcome.error or f"{len(outcome.records)} records"
        step = Step(
            now, ask.server, self.name, self.rdtype, self.attempt,
            now - min(now, self._sent_at[ask.id]), result, outcome.ttl_ms,
        )  # fmt: skip
        self.steps.append(step)


def combine(outcomes: Sequence[LookupResult]) -> LookupResult:
    """Prefer records to an empty answer, that to "no such name", that to the commonest error."""
    for kind in ("records", "nodata", "nxdomain"):
        for outcome in outcomes:
            if outcome.kind == kind:
                return outcome
    telling = [o for o in outcomes if not o.error.startswith("no answer")] or list(outcomes)
    commonest = Counter(o.error for o in telling).most_common(1)[0][0]
    return next(o for o in telling if o.error == commonest)


def sample(items: Sequence[str], count: int, chance: Callable[[], float]) -> list[str]:
    """Choose `count` of the items; every subset and order is equally likely."""
    rest = list(items)
    chosen = []
    for _ in range(min(count, len(rest))):
        chosen.append(rest.pop(int(chance() * len(rest))))
    return chosen
