"""The recorded behaviour of the functions that the pool calls."""

import json
from pathlib import Path

import pytest

from pools.logic.backends import backend_key, normalize_address
from pools.logic.dns.names import parse_host_port
from pools.logic.errors import InvalidInput
from pools.logic.pool.claims import ControlledDelay
from pools.logic.pool.rebalance import plan_rebalance
from pools.logic.pool.sizing import make_taps

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "pools.json").read_text())
# Where the recorded behaviour is a bug, the specification recommends something else.
PARSED_BETTER = {
    "127.0.0.1:0",
    "127.0.0.1:80abc",
    "foo:80:90",
    "",
    "::1",
    "::1:80",
    "[::1]",
    "[::1]:80",
    "2001:db8::1",
    "2001:db8::1:80",
    "2001:db8::abcd",
    "1.2.3",
    "256.1.1.1",
}


@pytest.mark.parametrize("case", VECTORS["plan_rebalance"], ids=lambda c: f"t{c['target']}")
def test_p15_plan_is_as_recorded(case):
    backends = [(key, slots) for key, slots in case["backends"]]
    plan = plan_rebalance(
        backends, set(case["dead"]), case["target"], case["max"], case["singleton"]
    )
    assert (plan.add, plan.remove) == (case["add"], case["remove"])


@pytest.mark.parametrize("case", VECTORS["codel"], ids=lambda c: f"target{c['target']}")
def test_controlled_delay_is_as_recorded(case):
    codel = ControlledDelay(case["target"], case["interval"])
    calls = {
        "overloaded": lambda step: codel.overloaded(step["start"], step["t"]),
        "empty": lambda step: codel.empty(step["t"]),
        "max_idle": lambda step: codel.limit_ms(step["t"]),
    }
    for step in case["steps"]:
        assert calls[step["op"]](step) == step.get("result"), step


@pytest.mark.parametrize("case", VECTORS["keys"], ids=lambda c: c["name"])
def test_r35_key_is_as_recorded(case):
    assert normalize_address(case["address"]) == case["normalized"]
    assert backend_key(case["name"], case["port"], case["address"]) == case["key"]


def test_filter_taps_are_as_recorded():
    taps = make_taps(VECTORS["fir"]["taps"], VECTORS["fir"]["tc"])
    assert list(taps[:4]) == VECTORS["fir"]["first_taps"]


AGREED = [case for case in VECTORS["parse"] if case["input"] not in PARSED_BETTER]


@pytest.mark.parametrize("case", [c for c in AGREED if "error" not in c], ids=lambda c: c["input"])
def test_parsed_as_recorded(case):
    parsed = parse_host_port(case["input"])
    config = case["config"]
    backend = config.get("backends", [{}])[0]
    host = backend.get("address") or config["domain"]
    port = backend.get("port") or config.get("defaultPort")
    assert (parsed.host, parsed.port, parsed.is_ip) == (host, port, case["kind"] == "static")


@pytest.mark.parametrize("case", [c for c in AGREED if "error" in c], ids=lambda c: c["input"])
def test_refused_as_recorded(case):
    with pytest.raises(InvalidInput) as caught:
        parse_host_port(case["input"])
    assert str(caught.value) == case["error"]
