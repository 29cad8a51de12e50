"""Measure GET requests per second of 10 tasks on one loop: `get_async.py NAME SECONDS URL`."""

import asyncio
import json
import sys
import time

TASKS = 10


async def ours(url):
    from pools import AsyncHttpAgent

    agent = AsyncHttpAgent(spares=TASKS, maximum=TASKS)

    async def once():
        return (await agent.get(url)).data

    return "this tree", once, agent.aclose


async def httpx(url):
    import httpx

    client = httpx.AsyncClient()

    async def once():
        return (await client.get(url)).content

    return httpx.__version__, once, client.aclose


async def httpx_with_agent(url):
    import httpx

    from pools.contrib.httpx_transport import AsyncAgentTransport

    transport = AsyncAgentTransport(spares=TASKS, maximum=TASKS)
    client = httpx.AsyncClient(transport=transport)

    async def once():
        return (await client.get(url)).content

    return httpx.__version__, once, client.aclose


async def aiohttp(url):
    import aiohttp

    session = aiohttp.ClientSession()

    async def once():
        async with session.get(url) as response:
            return await response.read()

    return aiohttp.__version__, once, session.close


async def main(name, seconds, url):
    version, once, close = await globals()[name](url)
    for _ in range(50):
        assert len(await once()) == 100
    count, ends_at = 0, time.perf_counter() + seconds

    async def work():
        nonlocal count
        while time.perf_counter() < ends_at:
            await once()
            count += 1

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*[work() for _ in range(TASKS)])
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    await close()
    rates = {"per_second": count / took, "per_cpu_second": count / cpu}
    print(json.dumps({"version": version, **rates}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), sys.argv[3]))
