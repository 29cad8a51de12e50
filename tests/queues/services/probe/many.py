"""Waits as `wait` does, beside others in one process."""

import asyncio
from pathlib import Path


async def run(context):
    order = context.argv[0] if context.argv and isinstance(context.argv[0], dict) else {}
    if "started" in order:
        Path(order["started"]).touch()
    if "say" in order:
        print(order["say"])
        context.progress(order.get("percent", 0))
    if order.get("fail"):
        raise ValueError(order["fail"])
    if "file" in order:
        with open(order["file"], "a") as file:
            file.write(f"{context.job['id']}\n")
    await asyncio.sleep(order.get("sleep", 0))
    if "push" in order:
        context.push("many", {"sleep": 0}, queue=order["push"])
    while "go" in order and not Path(order["go"]).exists():
        try:
            await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            if not order.get("stubborn"):
                raise
    if order.get("die"):
        import os

        os._exit(3)
    return order.get("result")
