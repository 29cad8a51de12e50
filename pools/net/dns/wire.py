"""Write DNS questions as bytes, and tell which bytes answer them."""

import struct

RDTYPES = {"A": 1, "AAAA": 28, "SRV": 33}
PAYLOAD = 1232
EDNS = struct.pack("!BHHIH", 0, 41, PAYLOAD, 0, 0)
QR_BIT, TC_BIT = 0x8000, 0x0200
FORMERR = 1


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
            return int(flags & 0xF) == FORMERR
        asked = wire[12 : 12 + len(self._question)]
        return asked.lower() == self._question.lower()


def is_truncated(wire: bytes) -> bool:
    return bool(struct.unpack("!H", wire[2:4])[0] & TC_BIT)
