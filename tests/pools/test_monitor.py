"""The snapshot of all pools and resolvers."""

import gc
import itertools
import json
import threading
import urllib.request

import pytest

from pools import ConnectionPool, DNSResolver, StaticIpResolver, pool_monitor
from pools.net.runtime.kang import KangServer
from tests.pools.live import LONG, RECOVERY, resolving, started
from tests.servers.dns.server import DNSServer
from tests.servers.waiting import wait_until


@pytest.fixture
def pool():
    """Return a pool with one idle connection and one that is still connecting."""
    gate, numbers, calls = threading.Event(), itertools.count(), []

    def construct(backend):
        number = next(numbers)
        calls.append(number)
        if number > 0:
            gate.wait()
        return object()

    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": 9}])
    resolver.start()
    patient = {"default": {"timeout": LONG, "retries": 1, "delay": 1}}
    options = {"recovery": patient, "spares": 2, "maximum": 3, "domain": "monitored"}
    pool = ConnectionPool(constructor=construct, resolver=resolver, **options)
    pool.wait_for_state("running", timeout=LONG)
    wait_until(lambda: len(calls) == 2)
    yield pool
    gate.set()
    pool.stop()
    pool.wait_for_state("stopped", timeout=LONG)
    resolver.stop()


def found(snapshot):
    return [p for p in snapshot["pool"].values() if p["options"]["domain"] == "monitored"][-1]


def test_k1_states_of_connections_by_backend(pool):
    shown = found(pool_monitor.snapshot())
    (key,) = shown["backends"]
    assert shown["connections"] == {key: {"idle": 1, "connecting": 1}}
    assert shown["state"] == "running"
    assert shown["options"] == {
        "domain": "monitored",
        "service": "_http._tcp",
        "defaultPort": 80,
        "spares": 2,
        "maximum": 3,
    }
    assert shown["dead_backends"] == []
    assert isinstance(shown["last_rebalance"], int)


def test_a_snapshot_is_json(pool):
    assert json.loads(json.dumps(pool_monitor.snapshot()))["service"]["name"] == "cueball"


def test_the_snapshot_over_http(pool):
    gc.collect()  # free pools of other tests now, not between two questions
    server = KangServer(0)
    base = f"http://127.0.0.1:{server.port}/kang"

    def get(path):
        with urllib.request.urlopen(base + path, timeout=LONG / 1000) as response:
            return json.load(response)

    assert found(get("/snapshot"))["state"] == "running"
    assert get("/types") == ["pool", "set", "dns_res"]
    id = next(i for i in get("/objects/pool") if get(f"/obj/pool/{i}")["state"] == "running")
    assert get(f"/obj/pool/{id}")["waiters"] == 0
    with pytest.raises(urllib.error.HTTPError) as caught:
        get("/nothing")
    caught.value.close()
    server.close()


def test_resolvers_are_shown():
    with DNSServer() as dns:
        dns.set("svc.example", "A", ["10.0.0.1"], ttl=300)
        with resolving(dns) as resolver:
            started(resolver)
            shown = [
                r
                for r in pool_monitor.snapshot()["dns_res"].values()
                if r["resolvers"] == [f"127.0.0.1:{dns.port}"]
            ][-1]  # an earlier test may have had the same port
    assert shown["domain"] == "svc.example"
    assert shown["next"]["v4"].endswith("Z")
    assert [b["address"] for b in shown["backends"].values()] == ["10.0.0.1"]


def test_what_is_forgotten_is_not_shown():
    DNSResolver("forgotten.example", RECOVERY)
    gc.collect()
    domains = {r["domain"] for r in pool_monitor.snapshot()["dns_res"].values()}
    assert "forgotten.example" not in domains


def test_options_for_a_kang_server(pool):
    options = pool_monitor.to_kang_options()
    assert "port" not in options
    assert options["list_types"]() == ["pool", "set", "dns_res"]
    assert options["get"]("pool", options["list_objects"]("pool")[-1])["options"]
