"""Write DNS questions as bytes and read the answers."""

import struct

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdatatype
import dns.rrset

from pools.logic.dns.reply import Record, Reply, Srv

RDTYPES = {"A": 1, "AAAA": 28, "SRV": 33}
KINDS = {"A", "AAAA", "CNAME", "SOA", "SRV"}
PAYLOAD = 1232
EDNS = struct.pack("!BHHIH", 0, 41, PAYLOAD, 0, 0)
QR_BIT, TC_BIT = 0x8000, 0x0200


class Question:
    """One question with its id; it knows its own bytes and which replies answer it."""

    def __init__(self, id: int, name: str, rdtype: str) -> None:
        labels = name.rstrip(".").encode("ascii").split(b".")
        qname = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
        self._question = qname + struct.pack("!HH", RDTYPES[rdtype], 1)
        self._id = id
        self.wire = struct.pack("!HHHHHH", id, 0x0100, 1, 0, 0, 1) + self._question + EDNS

    def is_answered_by(self, wire: bytes) -> bool:
        """Compare the id and the whole question: otherwise it is not our answer."""
        if len(wire) < 12:
            return False
        id, flags, questions = struct.unpack("!HHH", wire[:6])
        if id != self._id or not flags & QR_BIT:
            return False
        if questions == 0:  # a server that understood nothing repeats nothing
            return int(flags & 0xF) == int(dns.rcode.FORMERR)
        asked = wire[12 : 12 + len(self._question)]
        return asked.lower() == self._question.lower()


def is_truncated(wire: bytes) -> bool:
    return bool(struct.unpack("!H", wire[2:4])[0] & TC_BIT)


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
