"""What a nameserver answers in most scenarios."""

from tests.pools.dns.resolver_run import NODATA, NXDOMAIN, SRV, a, aaaa, srv

TWO_TARGETS = {
    (SRV, "SRV"): srv(("a.x", 1), ("b.x", 2)),
    ("a.x", "A"): a("a.x", "1.0.0.1"),
    ("a.x", "AAAA"): NODATA,
    ("b.x", "AAAA"): aaaa("b.x", "::2"),
    ("b.x", "A"): NODATA,
}
PLAIN = {
    (SRV, "SRV"): NXDOMAIN,
    ("svc.x", "AAAA"): NODATA,
    ("svc.x", "A"): a("svc.x", "1.0.0.9", ttl=60),
}
SRV_AND_PLAIN = {
    (SRV, "SRV"): srv(("a.x", 1), ttl=30),
    ("a.x", "A"): a("a.x", "1.0.0.1"),
    ("a.x", "AAAA"): NODATA,
    ("svc.x", "A"): a("svc.x", "1.0.0.9"),
    ("svc.x", "AAAA"): NODATA,
}
