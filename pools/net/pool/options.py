"""Read the options of pools and agents, with the defaults of the original."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import fields
from inspect import signature
from typing import Any

from pools.logic.errors import InvalidInput
from pools.logic.pool.config import PoolConfig
from pools.logic.recovery import RecoverySpec
from pools.net.dns.resolver import DNSResolver

DEFAULT_RECOVERY = {"default": {"timeout": 2000, "retries": 5, "delay": 250, "max_delay": 1000}}
LIMITS = [field.name for field in fields(PoolConfig) if field.name != "recovery"]
OF_ONE_POOL = {"domain", "check_timeout", "check_limit"}  # an agent has others instead
AGENT_LIMITS = [name for name in LIMITS if name not in OF_ONE_POOL]


def recovery_spec(recovery: Any, is_needed: bool = False) -> RecoverySpec:
    """Return the recovery; a pool with a resolver of its own may go without."""
    if recovery is None and is_needed:
        raise TypeError("recovery is missing; only a pool that is given a resolver has a default")
    return RecoverySpec(DEFAULT_RECOVERY if recovery is None else recovery)


def check_names(owner: type, options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Name an option that does not exist, and the one that was probably meant."""
    names = list(known)
    for name in options:
        if name not in names:
            import difflib  # for mistakes only

            alike = difflib.get_close_matches(name, [*own_options(owner), *names], 1)
            hint = f"; did you mean {alike[0]}?" if alike else ""
            raise TypeError(f"{owner.__name__} has no option {name!r}{hint}")


def check_resolver_options(options: Mapping[str, Any] | None) -> None:
    if options:
        check_names(DNSResolver, options, own_options(DNSResolver))


def own_options(owner: type) -> list[str]:
    """Return the options that a class names in its signature, or one that it is built on."""
    makers = [vars(kind)["__init__"] for kind in owner.__mro__[:-1] if "__init__" in vars(kind)]
    parameters = [each for maker in makers for each in signature(maker).parameters.values()]
    return [p.name for p in parameters if p.kind != p.VAR_KEYWORD and p.name != "self"]


def logger_of(log: Any) -> logging.Logger:
    if log is None:
        return logging.getLogger("pools")
    if not all(callable(getattr(log, level, None)) for level in ("debug", "info", "warning")):
        kind = type(log).__name__
        raise InvalidInput(f"log must be a logger with debug(), info() and warning(), not {kind}")
    return log
