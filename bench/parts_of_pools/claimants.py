"""Measure many claimants on one event loop: NAME SECONDS CLAIMANTS CONNECTIONS [URL]."""

import asyncio
import json
import sys
import time

from pools import AsyncConnectionPool, StaticIpResolver, asyncio_driver


async def construct(backend):
    return object()


async def ours(connections, url):
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": 1}], driver=asyncio_driver())
    resolver.start()
    pool = AsyncConnectionPool(
        constructor=construct,
        resolver=resolver,
        recovery={"default": {"timeout": 1000, "retries": 3, "delay": 100}},
        spares=connections,
        maximum=connections,
    )
    await pool.until("running")
    return "this tree", pool.claim, pool.aclose


async def psycopg(connections, url):
    import psycopg_pool

    pool = psycopg_pool.AsyncConnectionPool(url, min_size=connections, open=False)
    await pool.open(wait=True)
    return psycopg_pool.__version__, pool.connection, pool.close


async def main(name, seconds, claimants, connections, url=""):
    version, claim, close = await globals()[name](connections, url)
    count, waits = 0, []
    ends_at = time.perf_counter() + seconds

    async def work():
        nonlocal count
        while time.perf_counter() < ends_at:
            asked = time.perf_counter()
            async with claim():
                waits.append(time.perf_counter() - asked)
                await asyncio.sleep(0)
            count += 1

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*[work() for _ in range(claimants)])
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    waits.sort()
    p99 = waits[int(len(waits) * 0.99)] * 1000
    rates = {"per_second": count / took, "per_cpu_second": count / cpu}
    print(json.dumps({"version": version, **rates, "p99_ms": p99}))
    await close()


if __name__ == "__main__":
    name, seconds, claimants, connections, *rest = sys.argv[1:]
    asyncio.run(main(name, float(seconds), int(claimants), int(connections), *rest))
