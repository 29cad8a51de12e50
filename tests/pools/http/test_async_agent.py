"""Agents for asyncio against the same servers."""

import asyncio

import pytest

from pools import (
    AgentStoppedError,
    AsyncHttpAgent,
    AsyncHttpsAgent,
    ClaimTimeoutError,
    HealthPolicy,
    PoolFailedError,
    ProtocolError,
    ReadTimeoutError,
    RequestError,
    Timeout,
    Tls,
    TooManyRedirects,
)
from tests.pools.http.script import Script, answer
from tests.pools.http.web import CERTIFICATE, Web
from tests.pools.live import LONG
from tests.servers.ports import free_port
from tests.servers.proxy.server import TCPProxy


def run(story, kind=AsyncHttpAgent, **options):
    async def main():
        async with kind(**{"spares": 0, "maximum": 2, **options}) as agent:
            return await story(agent)

    return asyncio.run(main())


def test_verbs_json_and_kept_connections(web):
    async def story(agent):
        for _ in range(5):
            assert (await agent.get(web.url("/x"), params={"a": 1})).data == b"hello"
        assert (await agent.post(web.url(), json={"a": 1})).json() == {"a": 1}
        assert (await agent.put(web.url(), data={"a": 1})).text == "a=1"
        return len(agent.get_pool("127.0.0.1", web.port).machine.slots.all())

    assert run(story) == 1
    assert web.paths()[0] == "/x?a=1"


def test_many_tasks_share_few_connections(web):
    async def story(agent):
        answers = await asyncio.gather(*[agent.get(web.url()) for _ in range(50)])
        return {each.data for each in answers}, agent.get_pool("127.0.0.1", web.port)

    bodies, pool = run(story)
    assert bodies == {b"hello"}
    assert pool.machine.slots.total <= 2


def test_streams_in_both_directions(web):
    async def body():
        for piece in (b"ab", b"c"):
            yield piece

    async def story(agent):
        web.body = b"x" * 400_000
        async with await agent.get(web.url(), stream=True) as response:
            size = sum([len(piece) async for piece in response])
        sent = await agent.post(web.url(), body=body(), headers={"Content-Length": "3"})
        return size, sent.data

    assert run(story) == (400_000, b"abc")


def test_a_stream_that_is_left_closes_its_connection(web):
    async def story(agent):
        web.body = b"x" * 4_000_000
        async with await agent.get(web.url(), stream=True):
            pass
        web.body = b"hello"
        return (await agent.get(web.url())).data

    assert run(story, maximum=1) == b"hello"


def test_redirects_and_retries():
    async def story(agent):
        there = answer(status="302 Found", Location="/there")
        with Script(there, answer(b"here"), there, there) as script:
            found = await agent.get(script.url, redirects=2)
            with pytest.raises(TooManyRedirects):
                await agent.get(script.url, redirects=1)
        with Script(answer(b"", "503 Busy"), answer()) as script:
            assert (await agent.get(script.url, retries=1)).status == 200
        return found.data

    assert run(story) == b"here"


def test_errors_are_those_of_the_other_agent(web):
    async def story(agent):
        with pytest.raises(PoolFailedError):
            await agent.get(f"http://127.0.0.1:{free_port()}/")
        with Script(b"SSH-2.0\r\n\r\n") as script, pytest.raises(ProtocolError):
            await agent.get(script.url)
        cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nab"
        with Script(cut) as script, pytest.raises(RequestError, match="before the end"):
            await agent.get(script.url)
        web.hang = True
        with pytest.raises(ReadTimeoutError):
            await agent.get(web.url(), timeout=0.05)

    recovery = {"default": {"timeout": 20_000, "retries": 0, "delay": 10}}
    run(story, recovery=recovery)


def test_a_claim_has_a_limit(web):
    async def story(agent):
        held = await agent.get(web.url(), stream=True)
        with pytest.raises(ClaimTimeoutError):
            await agent.get(web.url(), claim_timeout=20)
        await held.read()
        return (await agent.get(web.url())).status

    assert run(story, maximum=1) == 200


def test_a_task_that_is_cancelled_gives_its_connection_up(web):
    async def story(agent):
        web.hang = True
        task = asyncio.ensure_future(agent.get(web.url()))
        while not web.requests:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        web.hang = False
        return (await agent.get(web.url())).status

    assert run(story, maximum=1) == 200


def test_a_kept_connection_that_was_cut_is_not_noticed_by_the_caller(web):
    async def story(agent):
        with TCPProxy("127.0.0.1", web.port) as proxy:
            url = f"http://127.0.0.1:{proxy.port}/"
            await agent.get(url)
            proxy.cut()
            return (await agent.get(url)).status

    assert run(story, maximum=1) == 200


def test_late_answers_do_not_make_a_backend_dead(web):
    async def story(agent):
        for _ in range(4):
            with pytest.raises(ReadTimeoutError):
                await agent.get(web.url(), timeout=Timeout(read=0.01))
        return agent.get_pool("127.0.0.1", web.port).get_stats()["counters"]

    web.hang = True
    assert run(story, spares=0).get("retries-exhausted") is None


def test_pings_of_asyncio(web):
    async def story(agent):
        await agent.get(web.url())
        pool = agent.get_pool("127.0.0.1", web.port)
        web.status = 503
        await pool.until("failed", timeout=LONG)
        web.status = 200
        return await pool.until("running", timeout=LONG)

    options = {"ping": "/ping", "ping_interval": 5, "health": HealthPolicy(fall=1)}
    assert run(story, spares=1, **options) == "running"


def test_tls_of_asyncio():
    with Web(tls=True) as secure:
        url = f"https://127.0.0.1:{secure.port}/"

        async def trusting(agent):
            return (await agent.get(url)).data

        async def careful(agent):
            with pytest.raises(PoolFailedError):
                await agent.get(url)

        assert run(trusting, AsyncHttpsAgent, tls=Tls(verify=False)) == b"hello"
        run(careful, AsyncHttpsAgent, tls=Tls(ca_certs=str(CERTIFICATE)))


def test_close_begins_the_end_and_aclose_waits_for_it():
    async def story(agent):
        assert (await agent.get(web.url())).status == 200
        agent.close()
        with pytest.raises(AgentStoppedError):
            await agent.get(web.url())
        await agent.aclose(timeout=LONG / 1000)

    with Web() as web:
        run(story)
