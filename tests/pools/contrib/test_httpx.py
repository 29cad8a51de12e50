"""`httpx` on top of agents: a program changes the line that makes its client."""

import asyncio

import httpx
import pytest

from pools import HttpAgent
from pools.contrib.httpx_transport import AgentTransport, AsyncAgentTransport
from tests.servers.ports import free_port
from tests.servers.waiting import wait_until

RECOVERY = {"default": {"timeout": 20_000, "retries": 1, "delay": 10}}
SLOW = {"default": {"timeout": 20_000, "retries": 3, "delay": 20_000, "max_delay": 20_000}}
OPTIONS = {"spares": 0, "maximum": 2, "recovery": RECOVERY}


def test_a_client(web):
    with httpx.Client(transport=AgentTransport(**OPTIONS)) as client:
        assert client.get(web.url("/x"), params={"y": 1}).text == "hello"
        assert client.post(web.url(), json={"a": 1}).json() == {"a": 1}
        with client.stream("GET", web.url()) as response:
            assert b"".join(response.iter_bytes()) == b'{"a":1}'
    assert web.paths()[0] == "/x?y=1"


def test_the_errors_of_a_client(web):
    with httpx.Client(transport=AgentTransport(**OPTIONS)) as client:
        with pytest.raises(httpx.ConnectError):
            client.get(f"http://127.0.0.1:{free_port()}/")
        web.hang = True
        with pytest.raises(httpx.ReadTimeout):
            client.get(web.url(), timeout=httpx.Timeout(60, read=0.05))
        with pytest.raises(httpx.UnsupportedProtocol):
            client.get("ftp://127.0.0.1/")


def test_a_backend_that_refuses_is_no_busy_pool():
    with HttpAgent(spares=1, maximum=1, recovery=SLOW) as agent:
        port = free_port()
        pool = agent.create_pool("127.0.0.1", port)
        wait_until(lambda: pool.last_error is not None)
        client = httpx.Client(transport=AgentTransport(agent), timeout=0.01)
        with client, pytest.raises(httpx.ConnectError):
            client.get(f"http://127.0.0.1:{port}/")


def test_what_is_no_http_is_a_protocol_error(web):
    web.status = 99999
    client = httpx.Client(transport=AgentTransport(**OPTIONS))
    with client, pytest.raises(httpx.RemoteProtocolError):
        client.get(web.url())


def test_an_async_client(web):
    async def main():
        async with httpx.AsyncClient(transport=AsyncAgentTransport(**OPTIONS)) as client:
            answers = await asyncio.gather(*[client.get(web.url()) for _ in range(10)])
            assert {each.text for each in answers} == {"hello"}
            assert (await client.post(web.url(), content=b"abc")).content == b"abc"
            with pytest.raises(httpx.ConnectError):
                await client.get(f"http://127.0.0.1:{free_port()}/")

    asyncio.run(main())
