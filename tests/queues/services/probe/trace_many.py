"""Leaves a line for every execution, beside others in one process."""

import asyncio
import os
import time


async def run(context):
    order = context.argv[0]
    file = os.open(order["trace"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{context.job['id']} {context.job['attempt']} {time.time()}\n".encode())
    os.close(file)
    await asyncio.sleep(order["sleep"])
