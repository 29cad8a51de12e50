"""Jobs that wait or compute, for all contestants alike; each leaves a line of three moments."""

import asyncio
import os
import time
from urllib.request import urlopen

WAIT_SECONDS = 0.05


def work(kind: str, pushed: float) -> None:
    begun = time.time()
    if kind == "sleep":
        time.sleep(WAIT_SECONDS)
    elif kind == "http":
        with urlopen(os.environ["SLOW_URL"]) as answer:
            answer.read()
    else:
        compute(int(kind.removeprefix("cpu")) / 1000)
    mark(pushed, begun)


async def work_async(kind: str, pushed: float) -> None:
    begun = time.time()
    if kind == "sleep":
        await asyncio.sleep(WAIT_SECONDS)
    elif kind == "http":
        await fetch(os.environ["SLOW_URL"])
    else:
        compute(int(kind.removeprefix("cpu")) / 1000)
    mark(pushed, begun)


async def fetch(url: str) -> bytes:
    host, port = url.removeprefix("http://").rstrip("/").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET / HTTP/1.0\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer


def compute(seconds: float) -> None:
    over = time.thread_time() + seconds
    while time.thread_time() < over:
        sum(range(100))


def mark(pushed: float, begun: float) -> None:
    file = os.open(os.environ["MARKS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{pushed} {begun} {time.time()}\n".encode())
    os.close(file)


def paced(push, kind: str, count: int, rate: float) -> None:  # type: ignore[no-untyped-def]
    """Push so many jobs at this rate, or as quickly as possible if it is 0."""
    begun = time.time()
    for number in range(count):
        if rate:
            time.sleep(max(0.0, begun + number / rate - time.time()))
        push(kind, time.time())
