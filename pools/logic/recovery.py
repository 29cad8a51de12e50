"""How often an operation is tried again, and with how much time."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pools.logic.errors import InvalidInput

DAY_MS = 24 * 3600 * 1000
MOST_DOUBLINGS = 64  # a monitor may fail for years
FALL_BACKS = {"dns_srv": "dns", "dns": "default", "initial": "connect", "connect": "default"}
OPERATIONS = ("default", *FALL_BACKS)


@dataclass(frozen=True, slots=True)
class Recovery:
    """One operation: `retries` attempts follow the first, each later and with more time."""

    retries: float
    timeout: float
    delay: float
    max_timeout: float = math.inf
    max_delay: float = math.inf
    delay_spread: float = 0.2

    @property
    def attempts(self) -> float:
        return math.floor(self.retries) + 1 if self.retries < math.inf else math.inf

    def timeout_ms(self, attempt: int) -> float:
        """Return the time that attempt number `attempt` (from 1) may take."""
        return min(self.timeout * 2.0 ** min(attempt - 1, MOST_DOUBLINGS), self.max_timeout)

    def delay_ms(self, failures: int, chance: float) -> float:
        """Return the wait after so many failures; `chance` (0 to 1) places it inside the spread."""
        base = min(self.delay * 2.0 ** min(failures - 1, MOST_DOUBLINGS), self.max_delay)
        return base * (1 - self.delay_spread / 2 + self.delay_spread * chance)

    def monitoring(self) -> "Recovery":
        """Return the same operation for a dead backend: for ever, and always at its slowest."""
        growth = 2.0 ** min(self.retries, MOST_DOUBLINGS)
        timeout = min(self.timeout * growth, self.max_timeout)
        delay = min(self.delay * growth, self.max_delay)
        return Recovery(math.inf, timeout, delay, timeout, delay, self.delay_spread)


class RecoverySpec:
    """Hold the recovery of every operation, with `default` for those that are not named."""

    def __init__(self, spec: "Mapping[str, Mapping[str, float]] | RecoverySpec") -> None:
        self._operations: dict[str, Recovery] = (
            dict(spec._operations) if isinstance(spec, RecoverySpec) else _operations(spec)
        )

    def operation(self, name: str) -> Recovery:
        while name not in self._operations:
            name = FALL_BACKS[name]
        return self._operations[name]

    def __repr__(self) -> str:
        return f"RecoverySpec({self._operations!r})"


def _operations(spec: Mapping[str, Mapping[str, float]]) -> dict[str, Recovery]:
    if not isinstance(spec, Mapping):
        raise TypeError("recovery must be a mapping of operations")
    if "default" not in spec:
        raise InvalidInput("recovery needs an operation 'default'")
    for name in spec:
        if name not in OPERATIONS:
            raise InvalidInput(
                f"recovery.{name} is not an operation; the operations are {', '.join(OPERATIONS)}"
            )
    return {name: _recovery(f"recovery.{name}", fields) for name, fields in spec.items()}


def _recovery(where: str, fields: Mapping[str, float]) -> Recovery:
    if not isinstance(fields, Mapping):
        raise TypeError(f"{where} must be a mapping of numbers")
    unknown = set(fields) - set(Recovery.__slots__)
    if unknown:
        raise InvalidInput(f"{where} does not know {', '.join(sorted(unknown))}")
    retries = _number(where, fields, "retries", least=0)
    timeout = _number(where, fields, "timeout", least=math.ulp(0.0))
    delay = _number(where, fields, "delay", least=0)
    return Recovery(
        retries=retries,
        timeout=timeout,
        delay=delay,
        max_timeout=_ceiling(where, fields, "timeout", timeout, retries),
        max_delay=_ceiling(where, fields, "delay", delay, retries),
        delay_spread=_number(where, {"delay_spread": 0.2, **fields}, "delay_spread", 0, 1),
    )


def _number(
    where: str, fields: Mapping[str, Any], name: str, least: float, most: float = math.inf
) -> float:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{where}.{name} must be a number")
    if not least <= value <= most or value == math.inf:
        raise InvalidInput(f"{where}.{name} is out of range: {value}")
    return value


def _ceiling(
    where: str, fields: Mapping[str, Any], name: str, base: float, retries: float
) -> float:
    ceiling = fields.get(f"max_{name}")
    if ceiling is None:
        if retries >= 32 or base * 2.0**retries >= DAY_MS:
            raise InvalidInput(f"{where}.max_{name} is missing and {name} would exceed a day")
        return math.inf
    if isinstance(ceiling, bool) or not isinstance(ceiling, int | float):
        raise InvalidInput(f"{where}.max_{name} must be a number")
    if not ceiling >= base:
        raise InvalidInput(f"{where}.max_{name} is below {name}")
    return ceiling
