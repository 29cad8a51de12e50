"""Send one kind of request over kept connections, in a process of its own; print rate and delays.

python -m bench.parts.rest_load PORT CLIENTS COUNT METHOD PATH TOKEN [BODY]   ({} is a number)
"""

import asyncio
import itertools
import json
import sys
import time


async def client(port: int, numbers: "itertools.islice[int]", request, delays: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:
        begun = time.perf_counter()
        writer.write(request(number))
        status = await answered(reader)
        delays.append(time.perf_counter() - begun)
        assert status < 300, f"status {status}"
    writer.close()


async def answered(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return int(head[9:12])


async def main(port: int, clients: int, count: int, request) -> dict[str, float]:
    numbers, delays = itertools.islice(itertools.count(time.time_ns()), count), []
    begun = time.perf_counter()
    await asyncio.gather(*(client(port, numbers, request, delays) for _ in range(clients)))
    seconds = time.perf_counter() - begun
    delays.sort()
    return {"rate": count / seconds, "p99_ms": 1000 * delays[int(len(delays) * 0.99)]}


def written(method: str, path: str, token: str, body: str):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    text = f"{head}\r\n{body}"
    return lambda number: text.replace("{}", str(number), 1).encode()


if __name__ == "__main__":
    port, clients, count, method, path, token, *body = sys.argv[1:]
    request = written(method, path, token, "".join(body))
    print(json.dumps(asyncio.run(main(int(port), int(clients), int(count), request))))
