"""Read the answers of nameservers.

Only this module needs dnspython, which takes long to import: programs that connect to addresses
never load it.
"""

import dns.exception
import dns.message
import dns.rcode
import dns.rdata
import dns.rdatatype
import dns.rrset

from pools.logic.dns.reply import Record, Reply, Srv

KINDS = {"A", "AAAA", "CNAME", "SOA", "SRV"}


def parse_reply(wire: bytes) -> Reply | None:
    """Return the reply in these bytes; None if there is none."""
    try:
        message = dns.message.from_wire(wire, ignore_trailing=True)
    except (dns.exception.DNSException, ValueError):
        return None
    return Reply(
        dns.rcode.to_text(message.rcode()),
        _records(message.answer),
        _records(message.authority),
        _records(message.additional),
    )


def _records(rrsets: list[dns.rrset.RRset]) -> tuple[Record, ...]:
    return tuple(
        Record(rrset.name.to_text(omit_final_dot=True), kind, rrset.ttl, value)
        for rrset in rrsets
        for kind in [dns.rdatatype.to_text(rrset.rdtype)]
        for rdata in rrset
        for value in [_value(kind, rdata)]
        if value is not None
    )


def _value(kind: str, rdata: dns.rdata.Rdata) -> str | int | Srv | None:
    """Read the part that matters from the text form, which has no odd corners."""
    text = rdata.to_text() if kind in KINDS else ""
    if kind in ("A", "AAAA"):
        return text
    if kind == "CNAME":
        return text.rstrip(".")
    if kind == "SOA":
        return int(text.split()[-1])
    if kind == "SRV":
        priority, weight, port, target = text.split()
        return Srv(int(priority), int(weight), int(port), target.rstrip("."))
    return None
