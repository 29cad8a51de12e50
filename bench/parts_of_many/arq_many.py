"""arq on Redis: one process with one loop."""

import asyncio
import os
import sys
import time

import load
from arq import create_pool
from arq.connections import RedisSettings


async def work(context, kind, at):
    await load.work_async(kind, at)


class WorkerSettings:
    functions = [work]
    redis_settings = RedisSettings.from_dsn(os.environ["REDIS"])
    max_jobs = 100
    poll_delay = 0.02
    keep_result = 0
    log_results = False


async def main(kind, count, rate):
    pool, begun = await create_pool(WorkerSettings.redis_settings), time.time()
    for number in range(count):
        if rate:
            await asyncio.sleep(max(0.0, begun + number / rate - time.time()))
        await pool.enqueue_job("work", kind, time.time())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
