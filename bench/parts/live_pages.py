"""Measure plain pages beside 300 open streams, on one real web process."""

import http.client
import os
import selectors
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

STREAMS = 300
SECONDS = 10
ASKERS = 2
PAGES = ["/", "/jobs/", "/queues/", "/instances/", "/events/", "/system/settings/"]
PORT = int(os.environ.get("ATRIBUTO_PORT", "0"))
ROOT = Path(__file__).resolve().parents[2]


def beside_streams(cookie: str) -> float:
    """Return the p95 in milliseconds of plain pages, with every live page open."""
    web = subprocess.Popen([sys.executable, "manage.py", "web"], cwd=ROOT)
    streams: list[socket.socket] = []
    try:
        _wait_for_the_server()
        _times(cookie, 2)  # what is compiled and connected once
        alone = _times(cookie, SECONDS)
        streams += [_stream(cookie) for _ in range(STREAMS)]
        reader = threading.Thread(target=_read, args=(streams,), daemon=True)
        reader.start()
        beside = _times(cookie, SECONDS)
    finally:
        for stream in streams:
            stream.close()
        web.terminate()
        web.wait(20)
    print(f"  plain pages alone: {_said(alone)}; beside {STREAMS} live pages: {_said(beside)}")
    return _p95(beside)


def _times(cookie: str, seconds: float) -> list[float]:
    """Let several clients ask at once, each for one page after the other over one connection."""
    found: list[float] = []
    end = time.perf_counter() + seconds

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        number = 0
        while time.perf_counter() < end:
            start = time.perf_counter()
            connection.request("GET", PAGES[number % len(PAGES)], headers={"Cookie": cookie})
            answer = connection.getresponse()
            found.append((time.perf_counter() - start) * 1000)
            assert answer.status == 200, answer.status
            answer.read()
            number += 1

    threads = [threading.Thread(target=ask) for _ in range(ASKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _stream(cookie: str) -> socket.socket:
    stream = socket.create_connection(("127.0.0.1", PORT), 30)
    stream.sendall(
        f"GET /events/stream HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nCookie: {cookie}\r\n"
        "Accept: text/event-stream\r\n\r\n".encode()
    )
    assert b" 200 " in stream.recv(200)
    return stream


def _read(streams: list[socket.socket]) -> None:
    selector = selectors.DefaultSelector()
    for stream in streams:
        selector.register(stream, selectors.EVENT_READ)
    try:
        while True:
            for key, _ in selector.select(1):
                key.fileobj.recv(65536)
    except (OSError, ValueError):
        return  # closed: the measure is over


def _wait_for_the_server() -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", PORT), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the web server did not start")


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def _said(times: list[float]) -> str:
    return f"p50 {statistics.median(times):.0f} ms, p95 {_p95(times):.0f} ms of {len(times)}"
