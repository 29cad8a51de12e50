"""A program that is not Django: it pushes, sync and async, before and after the site was killed."""

import asyncio
import json
import sys

from atributo_client import AsyncClient, Client, Retries

SCRIPT = {"mount": "/multiplier", "name": "multiply"}
PATIENT = Retries(attempts=10_000, patience_seconds=300, longest_pause_seconds=0.2)


async def main(url: str, token: str) -> None:
    ids = []
    with Client(url, token, retries=PATIENT) as site:
        async with AsyncClient(url, token, retries=PATIENT) as asked:
            for number in range(2):
                pushed = asyncio.to_thread(site.push, "mail", SCRIPT, [number, 2])
                ids += await asyncio.gather(pushed, asked.push("mail", SCRIPT, [number, 3]))
                print(json.dumps(ids), flush=True)
                sys.stdin.readline()


asyncio.run(main(*sys.argv[1:]))
