"""Read the options of pools and agents, with the defaults of the original."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from pools.logic.errors import InvalidInput
from pools.logic.pool.config import PoolConfig
from pools.logic.recovery import RecoverySpec

DEFAULT_RECOVERY = {"default": {"timeout": 2000, "retries": 5, "delay": 250, "max_delay": 1000}}
LIMITS = [field.name for field in fields(PoolConfig) if field.name != "recovery"]


def recovery_spec(recovery: Any, is_needed: bool = False) -> RecoverySpec:
    """Return the recovery; a pool with a resolver of its own may go without."""
    if recovery is None and is_needed:
        raise TypeError("recovery is missing; only a pool that is given a resolver has a default")
    return RecoverySpec(DEFAULT_RECOVERY if recovery is None else recovery)


def pool_config(owner: str, recovery: RecoverySpec, limits: Mapping[str, Any]) -> PoolConfig:
    check_names(owner, limits, LIMITS)
    return PoolConfig(recovery=recovery, **limits)


def check_names(owner: str, options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Name an option that does not exist, and the one that was probably meant."""
    names = list(known)
    for name in options:
        if name not in names:
            import difflib  # for mistakes only

            alike = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {alike[0]}?" if alike else ""
            raise TypeError(f"{owner} has no option {name!r}{hint}")


def logger_of(log: Any) -> logging.Logger:
    if log is None:
        return logging.getLogger("pools")
    if not callable(getattr(log, "warning", None)):
        raise InvalidInput(f"log must be a logger with warning(), not {type(log).__name__}")
    return log
