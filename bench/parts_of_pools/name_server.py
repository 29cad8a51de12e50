"""Run a DNS server with COUNT names and a TTL; print its port, serve until stdin ends."""

import sys

from tests.servers.dns.server import DNSServer

if __name__ == "__main__":
    count, ttl = int(sys.argv[1]), int(sys.argv[2])
    with DNSServer() as dns:
        for i in range(count):
            dns.set(f"n{i}.example", "A", [f"10.0.{i // 250}.{i % 250}"], ttl=ttl)
        print(dns.port, flush=True)
        sys.stdin.read()
