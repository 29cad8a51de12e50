"""The settings of a DNS resolver."""

from dataclasses import dataclass, field

from pools.logic.dns.names import dns_name
from pools.logic.dns.ttl import StalePolicy, TtlLimits
from pools.logic.errors import InvalidInput
from pools.logic.numbers import check_count, check_port, check_positive
from pools.logic.recovery import RecoverySpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolverConfig:
    domain: str
    recovery: RecoverySpec
    service: str = "_http._tcp"
    default_port: int = 80
    max_dns_concurrency: int = 5
    ttl: TtlLimits = field(default_factory=TtlLimits)
    stale: StalePolicy = field(default_factory=StalePolicy)
    srv_confirmations: int = 2

    def __post_init__(self) -> None:
        dns_name(self.domain)
        dns_name(self.service_name)
        check_port("default_port", self.default_port)
        check_positive("ttl_floor", self.ttl.floor_ms)
        check_positive("ttl_ceiling", self.ttl.ceiling_ms)
        if not 0 < self.ttl.floor_ms <= self.ttl.ceiling_ms:
            raise InvalidInput(
                f"need 0 < ttl_floor <= ttl_ceiling: {self.ttl.floor_ms}, {self.ttl.ceiling_ms}"
            )
        check_count("max_dns_concurrency", self.max_dns_concurrency, least=1)
        check_count("srv_confirmations", self.srv_confirmations, least=1)

    @property
    def service_name(self) -> str:
        return f"{self.service}.{self.domain}"

    @property
    def display_name(self) -> str:
        return f"({self.service}.){self.domain}"
