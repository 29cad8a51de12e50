"""Measure many claimants on few connections, on one event loop: SECONDS CLAIMANTS CONNECTIONS."""

import asyncio
import json
import sys
import time

from pools import AsyncConnectionPool, StaticIpResolver, asyncio_driver


async def construct(backend):
    return object()


async def main(seconds, claimants, connections):
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
    count, waits = 0, []
    ends_at = time.perf_counter() + seconds

    async def work():
        nonlocal count
        while time.perf_counter() < ends_at:
            asked = time.perf_counter()
            async with pool.claim():
                waits.append(time.perf_counter() - asked)
                await asyncio.sleep(0)
            count += 1

    began = time.perf_counter()
    await asyncio.gather(*[work() for _ in range(claimants)])
    took = time.perf_counter() - began
    waits.sort()
    p99 = waits[int(len(waits) * 0.99)] * 1000
    print(json.dumps({"version": "this tree", "per_second": count / took, "p99_ms": p99}))
    pool.stop()
    await pool.until("stopped")


if __name__ == "__main__":
    seconds, claimants, connections = sys.argv[1:]
    asyncio.run(main(float(seconds), int(claimants), int(connections)))
