"""Measure what it costs to watch many names: `names.py COUNT SECONDS PORT`."""

import json
import sys
import threading
import time

from pools import DNSResolver

RECOVERY = {"default": {"timeout": 10_000, "retries": 3, "delay": 100}}


def main(count, seconds, port):
    options = {"resolvers": [f"127.0.0.1:{port}"], "has_ipv6": False}
    resolvers = [DNSResolver(f"n{i}.example", RECOVERY, **options) for i in range(count)]
    for resolver in resolvers:
        resolver.start()
    for resolver in resolvers:
        resolver.wait_for_state("running", timeout=120_000)
    cpu, began = time.process_time(), time.perf_counter()
    time.sleep(seconds)
    share = (time.process_time() - cpu) / (time.perf_counter() - began)
    asked = sum(resolver.counters["rcode-ok"] for resolver in resolvers)
    threads = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
    print(json.dumps({"share_of_a_core": share, "answers": asked, "threads": threads}))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
