"""Read the options of pools and agents, with the defaults of the original."""

import logging
from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any, Required, TypedDict

from pools.logic.pool.health import HealthPolicy, OutlierPolicy
from pools.logic.recovery import RecoverySpec
from pools.net.dns.base import Resolver
from pools.net.dns.resolver import DNSResolver
from pools.net.runtime.driver import Driver

DEFAULT_RECOVERY = {"default": {"timeout": 2000, "retries": 5, "delay": 250, "max_delay": 1000}}


class SetLimits(TypedDict, total=False):
    """What every kind of pool passes on to its PoolConfig."""

    maximum: int
    target_claim_delay: float | None
    max_waiting: int | None
    max_lease: float | None
    health: HealthPolicy
    outliers: OutlierPolicy | None
    balance: str | None
    max_churn_rate: float
    decoherence_interval: float
    stable_after: float
    flap_limit: float


class AgentLimits(SetLimits, total=False):
    spares: int


class PoolLimits(AgentLimits, total=False):
    check_limit: float | None


class SetOptions(SetLimits, total=False):
    """The options of a pool, for editors and type checkers."""

    constructor: Required[Callable[..., Any]]
    recovery: Any
    domain: str
    resolver: Resolver | None
    service: str
    default_port: int
    resolvers: Iterable[str] | str
    max_dns_concurrency: int
    resolver_options: dict[str, Any] | None
    owns_resolver: bool | None
    checker: Callable[..., Any] | None
    check_timeout: float | None
    check_limit: float | None
    log: logging.Logger | None
    driver: Driver | None
    chance: Callable[[], float]


class PoolOptions(SetOptions, total=False):
    spares: int


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


def check_pool(
    owner: type,
    limits: Mapping[str, Any],
    resolver_options: Mapping[str, Any] | None,
    constructor: Any,
    checker: Any,
) -> Callable[..., Any]:
    """Return the constructor; name what does not exist before what is missing."""
    check_names(owner, limits, PoolLimits.__annotations__)
    check_resolver_options(resolver_options)
    if not callable(constructor):
        raise TypeError(f"{owner.__name__} needs a constructor that can be called")
    if checker is not None and not callable(checker):
        raise TypeError(f"checker must be callable, not {checker!r}")
    return constructor


def check_resolver_options(options: Mapping[str, Any] | None) -> None:
    if options:
        check_names(DNSResolver, options, own_options(DNSResolver))


def own_options(owner: type) -> list[str]:
    """Return the options that a class names in its signature, or one that it is built on."""
    makers = [vars(kind)["__init__"] for kind in owner.__mro__[:-1] if "__init__" in vars(kind)]
    parameters = [each for maker in makers for each in signature(maker).parameters.values()]
    return [p.name for p in parameters if p.kind != p.VAR_KEYWORD and p.name != "self"]
