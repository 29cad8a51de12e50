"""Play the live part of an open page: follow the stream, fetch the part at each hint."""

import asyncio
import json
import time


class Probe:
    """Remember when each thing changed, and how long a page that lists it waited for it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.waits: list[float] = []
        self._changed: dict[str, float] = {}

    def changed(self, text: str, now: float) -> None:
        self._changed[text] = now

    def look(self, body: bytes, known: set[str]) -> None:
        """Count the texts that a page has for the first time."""
        now = time.monotonic()
        for text, at in list(self._changed.items()):
            if text not in known and text.encode() in body:
                known.add(text)
                self.waits.append(now - at)


class OpenPage:
    def __init__(self, port: int, cookie: str, address: str, probe: Probe | None) -> None:
        self._port, self._cookie, self._address, self._probe = port, cookie, address, probe
        self.opened = asyncio.Event()
        self._known: set[str] = set()

    async def follow(self) -> None:
        reader, _ = await self._ask("/events/stream?hints=yes")
        fetching = await asyncio.open_connection("127.0.0.1", self._port, limit=10_000_000)
        self.opened.set()
        while line := await reader.readline():
            if line.startswith(b'data: {"generation"'):
                hint = json.loads(line.removeprefix(b"data: "))
                await self._fetch(fetching, hint["generation"])

    async def _fetch(self, connection, generation: str) -> None:
        reader, writer = connection
        writer.write(self._request(self._address, f"HX-Request: true\r\nX-Live: {generation}\r\n"))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head[:20], head[:200]
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        body = await reader.readexactly(length)
        if self._probe is not None:
            self._probe.look(body, self._known)

    async def _ask(self, address: str):
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(self._request(address, "Accept: text/event-stream\r\n"))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head[:20], head[:200]
        return reader, writer

    def _request(self, address: str, headers: str) -> bytes:
        host = f"Host: 127.0.0.1:{self._port}\r\nCookie: {self._cookie}\r\n"
        return f"GET {address} HTTP/1.1\r\n{host}{headers}\r\n".encode()
