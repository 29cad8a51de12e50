"""Keep the records that a DNS server knows, and answer questions about them."""

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset

LONGEST_CHAIN = 16


class Zone:
    def __init__(self):
        self._rrsets = {}
        self._additional = {}
        self._soas = {}

    def set(self, name, rdtype, values, ttl=60, additional=()):
        rrset = make_rrset(name, rdtype, values, ttl)
        self._rrsets[rrset.name, rrset.rdtype] = rrset
        self._additional[rrset.name, rrset.rdtype] = [
            make_rrset(owner, kind, [value], seconds) for owner, kind, value, seconds in additional
        ]

    def set_soa(self, zone, ttl, minimum):
        """Let negative answers below this zone carry its SOA record."""
        value = ("ns." + zone, "hostmaster." + zone, 1, 3600, 600, 86400, minimum)
        rrset = make_rrset(zone, "SOA", [value], ttl)
        self._soas[rrset.name] = rrset

    def remove(self, name, rdtype):
        key = dns.name.from_text(name), dns.rdatatype.from_text(rdtype)
        del self._rrsets[key], self._additional[key]

    def answer(self, query):
        """Return the whole answer to a query, following aliases that the zone knows."""
        response = start_response(query)
        question = query.question[0]
        name = question.name
        for _ in range(LONGEST_CHAIN):
            if self._add_answer(response, name, question.rdtype):
                return response
            alias = self._rrsets.get((name, dns.rdatatype.CNAME))
            if alias is None:
                return self.add_denial(response, name)
            response.answer.append(renamed(alias, name))
            name = alias[0].target
        return response

    def add_denial(self, response, name):
        """Say NXDOMAIN, or NODATA where the name exists, with the SOA where one is set."""
        if not self._exists(name):
            response.set_rcode(dns.rcode.NXDOMAIN)
        return self.add_soa(response, name)

    def add_soa(self, response, name):
        zones = [zone for zone in self._soas if name.is_subdomain(zone)]
        if zones:
            response.authority.append(self._soas[max(zones, key=len)])
        return response

    def _add_answer(self, response, name, rdtype):
        rrset = self._rrsets.get((name, rdtype)) or self._soa_record(name, rdtype)
        if rrset is None:
            return False
        response.answer.append(renamed(rrset, name))
        response.additional.extend(self._additional.get((name, rdtype), ()))
        return True

    def _soa_record(self, name, rdtype):
        return self._soas.get(name) if rdtype == dns.rdatatype.SOA else None

    def _exists(self, name):
        owners = [owner for owner, _ in self._rrsets] + list(self._soas)
        return any(owner.is_subdomain(name) for owner in owners)


def start_response(query):
    response = dns.message.make_response(query, recursion_available=True)
    response.flags |= dns.flags.AA
    return response


def make_rrset(name, rdtype, values, ttl):
    """Build a record set from texts ("10.0.0.1") or tuples ((0, 1, 80, "a.example"))."""
    kind = dns.rdatatype.from_text(rdtype)
    rdatas = [
        dns.rdata.from_text(dns.rdataclass.IN, kind, as_text(value), dns.name.root, False)
        for value in values
    ]
    owner = dns.name.from_text(name) if isinstance(name, str) else name
    return dns.rrset.from_rdata_list(owner, ttl, rdatas)


def as_text(value):
    return value if isinstance(value, str) else " ".join(str(part) for part in value)


def renamed(rrset, name):
    """Return the same records under the name as it was asked, in its letter case."""
    return dns.rrset.from_rdata_list(name, rrset.ttl, list(rrset))
