"""Do what a DNS server can do wrong: each mode makes the replies to one question."""

import dns.name
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from tests.servers.dns.exchange import Reply, truncated
from tests.servers.dns.zone import make_rrset, renamed, start_response

TTL_MAX = 2**31 - 1
MANY = 250
POISON = ("victim.example", "A", "203.0.113.66")
JUNK = b"\x84\x00" + b"\xff" * 40  # a reply's flags, then absurd counts and bad pointers


def plain(exchange):
    return exchange.reply(exchange.honest())


def with_rcode(rcode):
    def refuse(exchange):
        response = start_response(exchange.query)
        response.set_rcode(rcode)
        return exchange.reply(response)

    return refuse


def nxdomain(exchange):
    response = start_response(exchange.query)
    response.set_rcode(dns.rcode.NXDOMAIN)
    return exchange.reply(exchange.zone.add_soa(response, exchange.question.name))


def nodata(exchange):
    response = start_response(exchange.query)
    return exchange.reply(exchange.zone.add_soa(response, exchange.question.name))


def drop(exchange):
    return []


def truncate(exchange):
    if exchange.transport == "tcp":
        return plain(exchange)
    return exchange.reply(truncated(exchange.honest()))


def truncate_no_tcp(exchange):
    if exchange.transport == "tcp":
        return [Reply(b"", abort=True)]
    return truncate(exchange)


def garbage(exchange):
    return [Reply(exchange.query.id.to_bytes(2, "big") + JUNK)]


def wrong_id(exchange):
    response = exchange.honest()
    response.id = (response.id + 1) % 65536
    return exchange.reply(response)


def wrong_name(exchange):
    response = exchange.honest()
    other = dns.name.from_text("wrong.example")
    response.question = [dns.rrset.RRset(other, dns.rdataclass.IN, exchange.question.rdtype)]
    response.answer = [renamed(rrset, other) for rrset in response.answer]
    return exchange.reply(response)


def wrong_source(exchange):
    return [Reply(exchange.wire(exchange.honest()), from_other_port=True)]


def cname(exchange):
    response = exchange.honest()
    name = exchange.question.name
    last = prefixed("alias2", name)
    response.answer = aliases(name) + [renamed(rrset, last) for rrset in response.answer]
    return exchange.reply(response)


def cname_loop(exchange):
    response = start_response(exchange.query)
    name = exchange.question.name
    first = prefixed("alias1", name)
    response.answer = [alias(name, first), alias(first, name)]
    return exchange.reply(response)


def cname_nodata(exchange):
    response = start_response(exchange.query)
    response.answer = aliases(exchange.question.name)
    return exchange.reply(exchange.zone.add_soa(response, exchange.question.name))


def aliases(name):
    first, second = prefixed("alias1", name), prefixed("alias2", name)
    return [alias(name, first), alias(first, second)]


def prefixed(label, name):
    return dns.name.Name((label.encode(), *name.labels))


def alias(name, target):
    return make_rrset(name, "CNAME", [target.to_text()], 60)


def duplicate(exchange):
    response = exchange.honest()
    response.answer = response.answer * 2
    return exchange.reply(response) * 2


def poison_additional(exchange):
    response = exchange.honest()
    name, rdtype, value = POISON
    response.additional = [*response.additional, make_rrset(name, rdtype, [value], 86400)]
    return exchange.reply(response)


def many(exchange):
    values = MANY_VALUES.get(exchange.question.rdtype)
    if values is None:
        return plain(exchange)
    rdtype = dns.rdatatype.to_text(exchange.question.rdtype)
    response = start_response(exchange.query)
    response.answer = [make_rrset(exchange.question.name, rdtype, values, 60)]
    return exchange.reply(response)


MANY_VALUES = {
    dns.rdatatype.A: [f"10.9.0.{n}" for n in range(1, MANY + 1)],
    dns.rdatatype.AAAA: [f"fd00::{n:x}" for n in range(1, MANY + 1)],
    dns.rdatatype.SRV: [(0, 1, 1000 + n, f"n{n}.many.example") for n in range(1, MANY + 1)],
}


def with_ttl(ttl):
    def answer(exchange):
        response = exchange.honest()
        response.answer = [with_new_ttl(rrset, ttl) for rrset in response.answer]
        response.additional = [with_new_ttl(rrset, ttl) for rrset in response.additional]
        return exchange.reply(response)

    return answer


def with_new_ttl(rrset, ttl):
    return dns.rrset.from_rdata_list(rrset.name, ttl, list(rrset))


def empty_reply(exchange):
    return [Reply(b"")]


def short_reply(exchange):
    """Send less than a header; over TCP less than was announced, then the end."""
    wire = exchange.wire(exchange.honest())
    return [Reply(wire[:9], announced=len(wire), then_close=True)]


MODES = {
    "servfail": with_rcode(dns.rcode.SERVFAIL),
    "refused": with_rcode(dns.rcode.REFUSED),
    "notimp": with_rcode(dns.rcode.NOTIMP),
    "formerr": with_rcode(dns.rcode.FORMERR),
    "nxdomain": nxdomain,
    "nodata": nodata,
    "drop": drop,
    "truncate": truncate,
    "truncate_no_tcp": truncate_no_tcp,
    "garbage": garbage,
    "wrong_id": wrong_id,
    "wrong_name": wrong_name,
    "wrong_source": wrong_source,
    "slow": plain,  # the server holds the replies until they are released
    "cname": cname,
    "cname_loop": cname_loop,
    "cname_nodata": cname_nodata,
    "duplicate": duplicate,
    "poison_additional": poison_additional,
    "many": many,
    "ttl_zero": with_ttl(0),
    "ttl_max": with_ttl(TTL_MAX),
    "empty_reply": empty_reply,
    "short_reply": short_reply,
}
