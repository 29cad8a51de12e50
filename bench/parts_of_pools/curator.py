"""Measure a curator process that watches many names: `curator.py COUNT TTL SECONDS`."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from tests.servers.dns.server import DNSServer
from tests.servers.valkey import ValkeyServer

ROOT = Path(__file__).resolve().parents[2]
SRV = "_http._tcp.drains.example"
QUIET_SECONDS = 10
ROUNDS = 5


def main(count, ttl, seconds):
    with DNSServer() as dns, ValkeyServer() as valkey, tempfile.TemporaryDirectory() as folder:
        prepare(folder, valkey.url)
        curator = subprocess.Popen(
            [sys.executable, ROOT / "manage.py", "run_curator"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            print(json.dumps(measure(dns, psutil.Process(curator.pid), count, ttl, seconds)))
        finally:
            curator.terminate()
            curator.wait(20)


def prepare(folder, redis_url):
    os.environ.update(
        ATRIBUTO_VAR_DIR=folder,
        REDIS_URL=redis_url,
        ATRIBUTO_DNS_SERVER_NETWORKS="127.0.0.0/8:*",
        DJANGO_SETTINGS_MODULE="atributo_site.settings",
    )
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def measure(dns, process, count, ttl, seconds):
    from atributo_site.core.models import Lease
    from pools.models import Pool

    until(lambda: Lease.objects.held().filter(role="curator").exists())
    idle = share_of_a_core(process, QUIET_SECONDS)
    watch(dns, count, ttl)
    took = until(lambda: Pool.objects.filter(state="running").count() == count)
    time.sleep(5)
    steady = share_of_a_core(process, seconds)
    return {
        "idle_share": idle,
        "seconds_until_all_are_in": took,
        "share_of_a_core": steady,
        "seconds_until_drained": drained(dns),
    }


def watch(dns, count, ttl):
    from pools.models import Pool

    for i in range(count):
        dns.set(f"n{i}.example", "A", [f"10.0.{i // 250}.{i % 250 + 1}"], ttl=ttl)
    here = [f"127.0.0.1:{dns.port}"]
    Pool.objects.bulk_create(
        Pool(name=f"n{i}", domain=f"n{i}.example", nameservers=here) for i in range(count)
    )


def drained(dns):
    """Measure how soon an instance drains after its SRV target has left; TTL and floor are 1 s."""
    from allocation.models import Instance
    from pools.models import Pool

    targets(dns, 3)
    server = f"127.0.0.1:{dns.port}"
    Pool.objects.create(
        name="drains", domain="drains.example", nameservers=[server], ttl_floor_ms=1000
    )
    third = Instance.objects.filter(pk="10.9.0.3:80")
    waits = []
    for _ in range(ROUNDS):
        targets(dns, 3)
        until(lambda: third.filter(available=True).exists())
        targets(dns, 2)
        waits.append(until(lambda: third.filter(available=False).exists()))
    return waits


def targets(dns, count):
    for n in range(1, count + 1):
        dns.set(f"t{n}.example", "A", [f"10.9.0.{n}"], 1)
    dns.set(SRV, "SRV", [(0, 0, 80, f"t{n}.example") for n in range(1, count + 1)], 1)


def share_of_a_core(process, seconds):
    before, began = process.cpu_times(), time.perf_counter()
    time.sleep(seconds)
    after = process.cpu_times()
    used = after.user + after.system - before.user - before.system
    return used / (time.perf_counter() - began)


def until(predicate, timeout=120):
    began = time.perf_counter()
    while not predicate():
        if time.perf_counter() - began > timeout:
            raise TimeoutError
        time.sleep(0.02)
    return time.perf_counter() - began


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
