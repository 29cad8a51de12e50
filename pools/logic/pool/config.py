"""The settings of a connection pool."""

import math
from dataclasses import dataclass

from pools.logic.errors import InvalidInput
from pools.logic.pool.health import HealthPolicy, OutlierPolicy
from pools.logic.pool.strategies import STRATEGIES
from pools.logic.recovery import RecoverySpec


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
        for name in ("spares", "maximum"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise InvalidInput(f"{name} must be a whole number")
        if not 0 <= self.spares <= self.maximum or self.maximum < 1:
            raise InvalidInput(f"need 0 <= spares <= maximum: {self.spares}, {self.maximum}")
        if self.balance not in (None, *STRATEGIES):
            raise InvalidInput(f"balance is none of {', '.join(STRATEGIES)}: {self.balance}")
        self._check_numbers()

    def _check_numbers(self) -> None:
        delay = self.target_claim_delay
        if delay is not None and not (math.isfinite(delay) and delay > 0):
            raise InvalidInput(f"target_claim_delay must be positive: {delay}")
        if not self.max_churn_rate > 0:
            raise InvalidInput(f"max_churn_rate must be positive: {self.max_churn_rate}")
        for name in ("max_waiting", "max_lease", "check_timeout", "check_limit"):
            value = getattr(self, name)
            if value is not None and not value > 0:  # a timer that is due at once would never end
                raise InvalidInput(f"{name} must be positive: {value}")
        if not self.decoherence_interval >= 60:
            raise InvalidInput("decoherence_interval must be 60 seconds or more")
