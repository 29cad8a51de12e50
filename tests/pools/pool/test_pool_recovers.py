"""Whatever dies, a pool serves as long as one backend lives, and again when one returns."""

import pytest

from pools.logic.pool.slot import Slot
from tests.pools.pool.pool_run import PoolRun

MINUTE = 60_000
KEYS = ["b1", "b2", "b3", "b4"]


@pytest.mark.parametrize("living", KEYS)
@pytest.mark.parametrize(("spares", "maximum"), [(0, 1), (1, 1), (2, 2), (3, 3), (4, 4), (1, 3)])
def test_one_living_backend_is_enough(living, spares, maximum):
    run = PoolRun(spares=spares, maximum=maximum)
    run.nets = {key: "refuse" for key in KEYS if key != living}
    for key in KEYS:
        run.add(key)
    run.advance(10_000).claim("one").advance(10_000)
    assert isinstance(run.answers["one"][0], Slot)
    assert run.most_open <= maximum


def test_a_failed_pool_without_spares_notices_who_returns():
    run = PoolRun("b1", "b2", spares=0, maximum=2)
    run.nets = {"b1": "refuse", "b2": "refuse"}
    run.claim("one").advance(10_000)
    assert run.state == "failed"
    run.advance(MINUTE).nets = {}
    assert run.advance(10_000).state == "running"


def test_a_pool_without_spares_starts_when_its_resolver_recovers():
    run = PoolRun(spares=0, maximum=2)
    run.machine.resolver_failed(OSError("no answer"))
    assert run.add("b1").advance(10_000).state == "running"
