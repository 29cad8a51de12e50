"""The same pool under asyncio."""

import asyncio
import gc
import weakref

import pytest

from pools import (
    AsyncConnectionPool,
    ClaimCancelledError,
    ClaimQueueFullError,
    ClaimTimeoutError,
    DNSResolver,
    PoolStoppingError,
    StaticIpResolver,
    asyncio_driver,
)
from pools.net.pool.asyncio import until
from tests.pools.live import LONG
from tests.servers.dns.server import DNSServer

RECOVERY = {"default": {"timeout": 20_000, "retries": 1, "delay": 10, "max_delay": 50}}


class Stream:
    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    def get_extra_info(self, name):
        return self.writer.get_extra_info(name)

    async def close(self):
        self.writer.close()
        await self.writer.wait_closed()


async def connect(backend, timeout_ms):
    return Stream(*await asyncio.open_connection(backend.address, backend.port))


async def echo(reader, writer):
    while data := await reader.read(100):
        writer.write(data)
        await writer.drain()
    writer.close()


def with_pool(use, **options):
    """Run a coroutine with an echo server and a pool of connections to it."""

    async def run():
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        resolver = StaticIpResolver(
            [{"address": "127.0.0.1", "port": port}], driver=asyncio_driver()
        )
        resolver.start()
        settings = {"constructor": connect, "recovery": RECOVERY, "spares": 1, "maximum": 2}
        pool = AsyncConnectionPool(resolver=resolver, **{**settings, **options})
        await use(pool)
        pool.stop(drain=0)
        await pool.until("stopped", timeout=LONG)
        server.close()
        await server.wait_closed()

    asyncio.run(asyncio.wait_for(run(), LONG / 1000))


def test_a_claim_is_awaited():
    async def use(pool):
        async with pool.claim(timeout=LONG) as stream:
            stream.writer.write(b"hi")
            assert await stream.reader.read(10) == b"hi"
        assert pool.get_stats()["idle_connections"] >= 1

    with_pool(use)


def test_many_tasks_share_a_few_connections():
    async def use(pool):
        async def work():
            async with pool.claim() as stream:
                stream.writer.write(b"x")
                return await stream.reader.read(1)

        assert await asyncio.gather(*[work() for _ in range(50)]) == [b"x"] * 50
        assert pool.get_stats()["total_connections"] <= 2

    with_pool(use)


def test_a_claim_times_out():
    async def use(pool):
        held = [pool.claim(), pool.claim()]
        for claim in held:
            await claim
        with pytest.raises(ClaimTimeoutError):
            await pool.claim(timeout=10)
        for claim in held:
            claim.release()

    with_pool(use)


def test_a_claim_that_is_cancelled_before_its_task_wakes_is_given_back():
    async def use(pool):
        held = [pool.claim(), pool.claim()]
        for claim in held:
            await claim
        waiting = pool.claim()
        task = asyncio.ensure_future(waiting.wait())
        await asyncio.sleep(0)
        held[0].release()
        waiting.cancel()  # the task has its answer, but has not run since
        with pytest.raises(ClaimCancelledError):
            await task
        assert pool.get_stats()["idle_connections"] == 1
        held[1].release()

    with_pool(use)


def test_what_a_task_has_in_hand_is_never_lent_again():
    async def use(pool):
        claim = pool.claim()
        stream = await asyncio.ensure_future(claim.wait())
        claim.cancel()
        async with pool.claim(timeout=LONG) as another:
            assert another is not stream

    with_pool(use, maximum=1)


def test_a_cancelled_task_leaves_the_queue():
    async def use(pool):
        held = [pool.claim(), pool.claim()]
        for claim in held:
            await claim
        task = asyncio.ensure_future(pool.claim().wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pool.get_stats()["waiter_count"] == 0
        for claim in held:
            claim.release()

    with_pool(use)


def test_stop_answers_everybody():
    async def use(pool):
        held = [pool.claim(), pool.claim()]
        for claim in held:
            await claim
        waiting = pool.claim()
        pool.stop()
        with pytest.raises(PoolStoppingError):
            await waiting
        for claim in held:
            claim.release()

    with_pool(use)


def test_a_check_may_be_a_coroutine():
    checked = asyncio.Event()

    async def check(handle, stream):
        stream.writer.write(b"?")
        assert await stream.reader.read(1) == b"?"
        handle.release()
        checked.set()

    async def use(pool):
        await checked.wait()

    with_pool(use, checker=check, check_timeout=1, check_limit=LONG)


def test_a_failing_block_closes_the_connection():
    async def use(pool):
        with pytest.raises(ZeroDivisionError):
            async with pool.claim() as stream:
                raise ZeroDivisionError
        assert stream.writer.is_closing() or await stream.reader.read(1) == b""

    with_pool(use)


def test_names_are_resolved_on_the_loop():
    async def run(dns):
        resolver = DNSResolver(
            "svc.example",
            RECOVERY,
            resolvers=[f"127.0.0.1:{dns.port}"],
            driver=asyncio_driver(),
        )
        resolver.start()
        state = await until(resolver, "running", "failed", timeout=LONG)
        found = [backend.address for backend in resolver.list().values()]
        resolver.stop()
        await until(resolver, "stopped", timeout=LONG)
        return state, found

    with DNSServer() as dns:
        dns.set("svc.example", "A", ["10.0.0.1"])
        dns.fault("svc.example", "A", "truncate")
        assert asyncio.run(run(dns)) == ("running", ["10.0.0.1"])


def test_an_attempt_that_takes_too_long_is_cancelled():
    under_way = []

    async def hang(backend):
        under_way.append(backend)
        try:
            await asyncio.Event().wait()
        finally:
            under_way.remove(backend)

    async def use(pool):
        await pool.until("failed", timeout=LONG)
        assert len(under_way) <= 1

    quick = {"default": {"timeout": 5, "retries": 3, "delay": 1}}
    with_pool(use, constructor=hang, recovery=quick, spares=1, maximum=1)


def test_a_loop_that_is_over_is_forgotten():
    """Programs that run one loop after the other must not collect them, nor their sockets."""

    async def use(pool):
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await pool.until("running", timeout=LONG)

    loops = []
    for _ in range(3):
        with_pool(use)
    gc.collect()
    assert [loop() for loop in loops[:-1]] == [None, None]


def test_a_connection_whose_next_holder_was_cancelled_in_between_is_not_lost():
    """A finalizer may cancel a claim after it was chosen and before it is told."""

    async def use(pool):
        async with pool.claim(timeout=LONG) as stream:
            assert stream
        first = pool.claim()
        second = pool.claim()
        second.state = "cancelled"
        first.release()
        async with pool.claim(timeout=LONG) as again:
            assert again is stream

    with_pool(use, spares=1, maximum=1)


def test_too_many_tasks_that_wait_are_told_which_pool_is_full():
    async def use(pool):
        held = pool.claim(timeout=LONG)
        await held
        waiting = pool.claim()
        with pytest.raises(ClaimQueueFullError) as caught:
            pool.claim()
        assert caught.value.pool is pool
        waiting.cancel()
        held.release()

    with_pool(use, spares=1, maximum=1, max_waiting=1)


def test_a_claim_that_another_thread_cancels_is_closed_not_lent_again():
    async def use(pool):
        claim = pool.claim(timeout=LONG)
        stream = await claim
        await asyncio.to_thread(claim.cancel)
        async with pool.claim(timeout=LONG) as another:
            assert another is not stream

    with_pool(use, spares=1, maximum=1)


def test_close_does_not_wait_on_the_loop_that_has_to_do_it():
    async def use(pool):
        async with pool.claim(timeout=LONG) as stream:
            assert stream
        pool.close(timeout=0.5)
        assert pool.state == "stopping"
        await pool.until("stopped", timeout=LONG)

    with_pool(use)
