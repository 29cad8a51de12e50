"""The settings of a connection pool."""

import math
from dataclasses import dataclass

from pools.logic.errors import InvalidInput
from pools.logic.numbers import check_count, check_positive, check_wait
from pools.logic.pool.health import HealthPolicy, OutlierPolicy
from pools.logic.pool.strategies import STRATEGIES
from pools.logic.recovery import RecoverySpec

LIMITS = ("target_claim_delay", "max_waiting", "max_lease", "check_timeout", "check_limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolConfig:
    """Times in milliseconds; None switches a limit off."""

    recovery: RecoverySpec
    spares: int = 4
    maximum: int = 16
    domain: str = ""
    target_claim_delay: float | None = None
    max_waiting: int | None = 1024
    max_lease: float | None = None
    check_timeout: float | None = None
    check_limit: float | None = None
    health: HealthPolicy = HealthPolicy()
    outliers: OutlierPolicy | None = OutlierPolicy()
    balance: str | None = None
    max_churn_rate: float = math.inf
    decoherence_interval: float = 60.0
    stable_after: float = 1000.0
    flap_limit: float = 100.0

    def __post_init__(self) -> None:
        check_count("maximum", self.maximum, least=1)
        if check_count("spares", self.spares) > self.maximum:
            raise InvalidInput(f"need spares <= maximum: {self.spares}, {self.maximum}")
        if self.balance not in (None, *STRATEGIES):
            raise InvalidInput(f"balance is none of {', '.join(STRATEGIES)}: {self.balance}")
        self._check_numbers()
        for name, kind in (("health", HealthPolicy), ("outliers", OutlierPolicy | None)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} must be a policy, not {getattr(self, name)!r}")

    def _check_numbers(self) -> None:
        for name in LIMITS:
            value = getattr(self, name)
            if value is not None:  # a timer that is due at once would never end
                check_positive(name, value)
        if self.target_claim_delay == math.inf:
            raise InvalidInput("target_claim_delay must be finite")
        check_positive("max_churn_rate", self.max_churn_rate)
        check_wait("stable_after", self.stable_after)
        check_wait("flap_limit", self.flap_limit)
        check_positive("decoherence_interval", self.decoherence_interval)
        if self.decoherence_interval < 60:
            raise InvalidInput("decoherence_interval must be 60 seconds or more")
