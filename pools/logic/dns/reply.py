"""What one nameserver answered, and what that means for the question."""

import math
from dataclasses import dataclass

from pools.logic.dns.names import fold

MAX_CHAIN = 16


@dataclass(frozen=True, slots=True)
class Srv:
    priority: int
    weight: int
    port: int
    target: str


@dataclass(frozen=True, slots=True)
class Record:
    """`value` is an address, a CNAME's target, an Srv or the minimum of a SOA, by `rdtype`."""

    name: str
    rdtype: str
    ttl: int
    value: str | int | Srv


@dataclass(frozen=True, slots=True)
class Reply:
    rcode: str
    answer: tuple[Record, ...] = ()
    authority: tuple[Record, ...] = ()
    additional: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class LookupResult:
    """Hold the end of a look-up: records, nodata, nxdomain, notimp, refused or error."""

    kind: str
    records: tuple[Record, ...] = ()
    additional: tuple[Record, ...] = ()
    ttl_ms: float = 0.0
    negative_ttl_ms: float | None = None
    error: str = ""


def timed_out(after_ms: float) -> LookupResult:
    return LookupResult("error", error=f"no answer within {_span(after_ms)}")


def failed(text: str) -> LookupResult:
    return LookupResult("error", error=text)


def lookup_result(reply: Reply, name: str, rdtype: str) -> LookupResult:
    """Use only records on the chain that begins at the question; others may be poison."""
    rcode = reply.rcode.upper()
    if rcode == "NXDOMAIN":
        return LookupResult("nxdomain", negative_ttl_ms=negative_ttl_ms(reply), error=rcode)
    if rcode in ("NOTIMP", "REFUSED"):
        return LookupResult(rcode.lower(), error=rcode)
    if rcode != "NOERROR":
        return LookupResult("error", error=rcode)
    return _follow(reply, name, rdtype)


def negative_ttl_ms(reply: Reply) -> float | None:
    """Return the smaller of the SOA's own TTL and its minimum (RFC 2308)."""
    for record in reply.authority:
        if record.rdtype == "SOA" and isinstance(record.value, int):
            return min(record.ttl, record.value) * 1000.0
    return None


def _follow(reply: Reply, name: str, rdtype: str) -> LookupResult:
    owner, ttl = fold(name), math.inf
    for _ in range(MAX_CHAIN):
        records = _owned(reply, owner, rdtype)
        if records:
            ttl = min(ttl, *(record.ttl for record in records))
            return LookupResult("records", records, reply.additional, ttl * 1000.0)
        aliases = _owned(reply, owner, "CNAME")
        if not aliases:
            return LookupResult(
                "nodata", negative_ttl_ms=negative_ttl_ms(reply), error="no records"
            )
        ttl = min(ttl, aliases[0].ttl)
        owner = fold(str(aliases[0].value))
    return failed("CNAME loop")


def _owned(reply: Reply, owner: str, rdtype: str) -> tuple[Record, ...]:
    return tuple(r for r in reply.answer if r.rdtype == rdtype and fold(r.name) == owner)


def _span(ms: float) -> str:
    return f"{ms / 1000:g}s" if ms >= 1000 else f"{ms:g}ms"
