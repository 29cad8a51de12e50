"""Claims without the lock: no connection is held by two, none is lost, none is lent too late."""

import random
import threading

import pytest

from pools.logic.pool.slot import BUSY, IDLE
from tests.pools.echo import Echo, pooling
from tests.pools.live import LONG
from tests.pools.pool.pool_run import PoolRun
from tests.servers.waiting import wait_until

THREADS = 8


@pytest.fixture
def run():
    """Return a pool with two idle connections that have served already."""
    made = PoolRun("b1", spares=2, maximum=2)
    for holder in ("x", "y"):
        made.claim(holder)
    for holder in ("x", "y"):
        made.release(holder)
    return made.advance(2000)


def test_of_two_who_end_a_lease_one_succeeds(run):
    slot = run.machine.plain.take("me")
    assert (slot.end_lease("me"), slot.end_lease("me")) == (True, False)


def test_an_old_holder_cannot_end_the_lease_of_another(run):
    slot = run.machine.plain.take("me")
    assert not slot.end_lease("you")
    assert run.machine.plain.put(slot, "you", lambda: run.now) is False
    assert run.machine.plain.put(slot, "me", lambda: run.now)
    assert slot.state == IDLE


def test_who_waits_is_not_overtaken_without_the_lock(run):
    for holder in ("a", "b", "c"):
        run.claim(holder)
    assert run.machine.plain.take("d") is None
    assert run.machine.plain.put(run.slot("a"), "a", lambda: run.now) is None


def test_a_backend_that_leaves_while_a_claim_takes_its_connection(run):
    """The claim has taken the slot out of the queue, but it does not look busy yet."""
    slot = run.machine.idle.popleft()
    run.remove("b1")
    slot.lend("me")
    assert (slot.state, slot.doomed) == (BUSY, "unwanted")
    assert run.machine.plain.put(slot, "me", lambda: run.now) is None
    run.machine.release(slot, run.now)
    run.settle()
    assert not run.open_connections()


def test_what_a_claim_is_just_taking_counts_as_lent(run):
    """Otherwise a process could report that an instance is free, and use it a moment later."""
    slot = run.machine.idle.popleft()
    assert run.machine.lent() == [slot]
    slot.lend("me")
    assert run.machine.lent() == [slot]
    run.machine.plain.put(slot, "me", lambda: run.now)
    assert run.machine.lent() == []


def test_a_backend_that_leaves_while_a_claim_puts_its_connection_back(run):
    slot = run.machine.plain.take("me")
    slot.end_lease("me")  # and before it is idle again ...
    run.remove("b1")
    slot.state = IDLE
    run.machine.idle.append(slot)
    assert run.machine.plain.is_unsettled(slot)
    run.machine.settle(slot, run.now)
    run.settle()
    assert not run.open_connections()


@pytest.fixture
def full(run):
    """Return the pool with both connections lent and `c` waiting."""
    for holder in ("a", "b", "c"):
        run.claim(holder)
    return run


def test_a_claim_lines_up_behind_others(full):
    assert full.machine.plain.line_up("d", lambda: 0.0)
    assert list(full.machine.queue.waiting) == ["c", "d"]
    full.release("a").release("b")
    assert full.slot("d").holder == "d"


def test_nobody_lines_up_where_a_claim_can_be_served(run):
    assert not run.machine.plain.line_up("d", lambda: 0.0)
    assert not run.machine.queue.waiting


def test_nobody_lines_up_in_a_pool_that_stops_at_that_moment(full):
    def clock():
        full.machine.stop(full.now)
        return 0.0

    assert not full.machine.plain.line_up("d", clock)
    assert "d" not in full.machine.queue


def test_who_lined_up_is_not_forgotten_when_a_connection_came_back_meanwhile(full):
    """A thread that released it has not seen the claim, so the claim looks once more."""

    def clock():
        full.machine.idle.append(full.machine.plain.take("x") or full.slot("a"))
        return 0.0

    assert not full.machine.plain.line_up("d", clock)
    assert "d" not in full.machine.queue


def test_a_slot_is_passed_on_to_who_waits_longest(full):
    slot = full.slot("a")
    assert full.machine.plain.pass_on(slot, "a", full.now) == "c"
    assert (slot.holder, slot.end_lease("a"), slot.end_lease("c")) == ("c", False, True)


def test_who_has_no_lease_passes_nothing_on(full):
    assert full.machine.plain.pass_on(full.slot("a"), "b", full.now) is None
    assert list(full.machine.queue.waiting) == ["c"]


def test_a_lease_stays_if_the_one_who_waited_is_gone(full):
    class Gone(dict):
        def __bool__(self):
            return True

    full.machine.queue.waiting = Gone()
    assert full.machine.plain.pass_on(full.slot("a"), "a", full.now) is None
    assert full.slot("a").end_lease("a")


@pytest.mark.parametrize("rounds", [150, pytest.param(4000, marks=pytest.mark.soak)])
def test_a_storm_of_threads_while_backends_come_and_go(rounds):
    owners, held_twice, over = {}, [], threading.Event()

    def work(seed):
        chance = random.Random(seed)
        for _ in range(rounds):
            claim = pool.claim(timeout=LONG)
            connection = claim.wait()
            if owners.setdefault(id(connection), claim) is not claim:
                held_twice.append(connection)
            owners.pop(id(connection), None)
            getattr(claim, chance.choice(["release"] * 6 + ["close", "cancel"]))()

    def disturb():
        keys = list(pool.resolver.list())
        chance = random.Random(0)
        while not over.is_set():
            pool.avoid([chance.choice(keys)])
            pool.get_stats()
            pool.avoid([])

    with Echo() as first, Echo() as second:
        options = {"spares": 4, "maximum": 6, "checker": lambda handle, _: handle.release()}
        with pooling(first.port, second.port, check_timeout=1, **options) as pool:
            pool.wait_for_state("running", timeout=LONG)
            threads = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
            disturber = threading.Thread(target=disturb)
            for thread in [*threads, disturber]:
                thread.start()
            for thread in threads:
                thread.join()
            over.set()
            disturber.join()
            wait_until(lambda: pool.get_stats()["idle_connections"] >= 4)
            with pool._lock:
                states = [slot.state for slot in pool.machine.slots.all()]
            assert states.count("busy") == 0
            assert pool.machine.slots.total <= 6
    assert held_twice == []
