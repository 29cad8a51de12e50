"""Sets of connections: the scenarios C1 to C4."""

import asyncio
import threading

import pytest

from pools import ConnectionSet, StaticIpResolver, asyncio_driver, pool_monitor
from pools.logic.errors import ClaimHandleMisusedError
from pools.logic.pool.actions import Advertise, Withdraw
from pools.logic.pool.connection_set import SetMachine
from tests.pools.live import LONG
from tests.pools.pool.pool_run import PoolRun
from tests.servers.waiting import wait_until

RECOVERY = {"default": {"timeout": 20_000, "retries": 1, "delay": 10, "max_delay": 50}}


class SetRun(PoolRun):
    """`told` is what the user of the set sees; it releases a connection at once, or not."""

    def __init__(self, *keys, target=1, maximum=1, lets_go=True, chance=lambda: 0.0, **options):
        self.told = []
        self.lets_go = lets_go
        super().__init__(chance=chance, spares=target, maximum=maximum, **options)
        self.machine = SetMachine(self.machine.config, chance)
        for key in keys:
            self.add(key)

    def _do(self, action):
        match action:
            case Advertise(ckey):
                self.told.append(("added", ckey))
            case Withdraw(ckey, slot):
                self.told.append(("removed", ckey))
                if self.lets_go:
                    self.machine.release(slot, self.now)
            case _:
                super()._do(action)


def test_c1_one_connection_per_backend():
    run = SetRun("b1", target=2, maximum=4)
    assert run.told == [("added", "b1.1")]
    assert len(run.open_connections()) == 1


def test_c2_the_new_connection_is_opened_before_the_old_one_goes():
    run = SetRun("b1")
    run.add("b2")
    assert run.told == [("added", "b1.1"), ("added", "b2.1"), ("removed", "b1.1")]
    assert run.most_open == 2
    assert [c.key for c in run.open_connections()] == ["b2"]


def test_c2_the_old_one_stays_while_the_new_one_does_not_connect():
    run = SetRun("b1")
    run.nets["b2"] = "refuse"
    run.add("b2").advance(5000)
    assert run.told == [("added", "b1.1")]


def test_c3_a_backend_that_is_not_used_may_go():
    run = SetRun("b1", chance=lambda: 0.999)
    run.add("b2").remove("b2")
    assert run.told == [("added", "b1.1")]
    assert len(run.connections) == 1


def test_c4_what_was_never_announced_is_never_withdrawn():
    run = SetRun()
    run.nets["b1"] = "manual"
    run.add("b1").finish("b1", OSError("died")).remove("b1").advance(1000)
    assert run.told == []


def test_a_connection_that_breaks_is_withdrawn_and_replaced():
    run = SetRun("b1").advance(2000)
    run.lose(run.connections[0])
    assert run.told == [("added", "b1.1"), ("removed", "b1.1"), ("added", "b1.2")]


def test_a_backend_that_is_removed_is_withdrawn():
    run = SetRun("b1").remove("b1")
    assert run.told == [("added", "b1.1"), ("removed", "b1.1")]
    assert run.open_connections() == []


def test_the_target_can_be_changed():
    run = SetRun("b1", "b2", "b3", target=2, maximum=3)
    for target in (3, 1):
        run.machine.set_target(target)
        run.settle()
        assert len(run.open_connections()) == target


def test_stop_withdraws_everything_and_waits():
    run = SetRun("b1", "b2", target=2, maximum=2, lets_go=False)
    run.machine.stop(run.now)
    run.settle()
    assert [word for word, _ in run.told] == ["added", "added", "removed", "removed"]
    assert run.state == "stopping"


# -- with threads ----------------------------------------------------------------------------


class Connection:
    closed = False

    def close(self):
        self.closed = True


@pytest.fixture
def made():
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": port} for port in (1, 2)])
    told, lock = [], threading.Lock()
    connections = ConnectionSet(
        constructor=lambda backend: Connection(),
        resolver=resolver,
        recovery=RECOVERY,
        target=2,
        maximum=2,
    )

    def tell(word):
        def listener(ckey, connection, handle):
            with lock:
                told.append((word, ckey, connection, handle))

        return listener

    connections.on("added", tell("added"))
    connections.on("removed", tell("removed"))
    resolver.start()
    wait_until(lambda: len(told) == 2)
    yield connections, told
    connections.stop(drain=0)
    connections.wait_for_state("stopped", timeout=LONG)
    resolver.stop()


def test_connections_are_announced_with_their_handles(made):
    connections, told = made
    assert set(connections.get_connections()) == {ckey for _, ckey, _, _ in told}
    assert all(ckey.endswith(".1") for _, ckey, _, _ in told)


def test_release_is_for_what_was_withdrawn(made):
    _, told = made
    with pytest.raises(ClaimHandleMisusedError):
        told[0][3].release()


def test_close_is_for_any_time_and_brings_another(made):
    _, told = made
    _, ckey, connection, handle = told[0]
    handle.close()
    wait_until(lambda: len(told) == 3)
    assert connection.closed
    assert told[2][:2] == ("added", ckey.removesuffix(".1") + ".2")


def test_stop_waits_for_the_releases(made):
    connections, told = made
    connections.stop()
    wait_until(lambda: len(told) == 4)
    assert connections.state == "stopping"
    for _, _, _, handle in told[2:]:
        handle.release()
    assert connections.wait_for_state("stopped", timeout=LONG) == "stopped"


def test_sets_are_in_the_snapshot(made):
    shown = list(pool_monitor.snapshot()["set"].values())
    assert any(s["target"] == 2 and len(s["connections"]) == 2 for s in shown)


def test_a_set_of_asyncio():
    async def construct(backend):
        return Connection()

    async def main():
        driver = asyncio_driver()
        resolver = StaticIpResolver([{"address": "127.0.0.1", "port": 1}], driver=driver)
        options = {"resolver": resolver, "driver": driver, "recovery": RECOVERY, "target": 1}
        connections = ConnectionSet(constructor=construct, **options)
        added = asyncio.Event()
        connections.on("added", lambda *_: added.set())
        async with resolver, connections:
            await asyncio.wait_for(added.wait(), LONG / 1000)
            (connection,) = connections.get_connections().values()
            connections.close()  # begins the end and does not block the loop
        assert (connections.state, connection.closed) == ("stopped", True)

    asyncio.run(main())
