"""Hold one question to a DNS server, and what is sent back."""

from dataclasses import dataclass

import dns.flags
import dns.message

from tests.servers.dns.zone import Zone


@dataclass
class Reply:
    wire: bytes
    from_other_port: bool = False  # UDP only
    announced: int | None = None  # TCP only: a length that is not the true one
    then_close: bool = False  # TCP only
    abort: bool = False  # TCP only: a reset instead of the reply


@dataclass
class Exchange:
    """One question: the query, the zone that knows the answer, and how the question came."""

    query: dns.message.Message
    zone: Zone
    transport: str

    @property
    def question(self):
        return self.query.question[0]

    def honest(self):
        return self.zone.answer(self.query)

    def reply(self, message):
        return [Reply(self.wire(message))]

    def wire(self, message):
        """Return the message in bytes; over UDP it is cut where the client's buffer is small."""
        wire = message.to_wire(max_size=65535)
        if self.transport == "tcp" or len(wire) <= max(self.query.payload, 512):
            return wire
        return truncated(message).to_wire()


def truncated(message):
    message.flags |= dns.flags.TC
    message.answer, message.authority, message.additional = [], [], []
    return message
