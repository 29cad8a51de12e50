"""Measure claim and release per second by one client: `python claims.py NAME SECONDS [URL]`.

Runs with the interpreter that has the peer installed, so it imports nothing before it must.
"""

import json
import socket
import sqlite3
import sys
import threading
import time


def ours(url):
    from pools import ConnectionPool, StaticIpResolver

    port = listen()
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": port}])
    resolver.start()
    pool = ConnectionPool(
        constructor=lambda backend: socket.create_connection((backend.address, backend.port)),
        resolver=resolver,
        recovery={"default": {"timeout": 1000, "retries": 3, "delay": 100}},
        spares=2,
        maximum=10,
    )
    pool.wait_for_state("running", timeout=5000)
    claim = pool.claim

    def once():
        with claim():
            pass

    return "this tree", once


def redis(url):
    import redis

    pool = redis.ConnectionPool.from_url(url)

    def once():
        pool.release(pool.get_connection())

    return redis.__version__, once


def sqlalchemy(url):
    import sqlalchemy
    from sqlalchemy.pool import QueuePool

    pool = QueuePool(lambda: sqlite3.connect(":memory:", check_same_thread=False), pool_size=10)

    def once():
        pool.connect().close()

    return sqlalchemy.__version__, once


def urllib3(url):
    import urllib3

    pool = urllib3.HTTPConnectionPool("127.0.0.1", listen(), maxsize=10)
    first = pool._get_conn()
    first.connect()
    pool._put_conn(first)

    def once():
        pool._put_conn(pool._get_conn())

    return urllib3.__version__, once


def psycopg(url):
    import psycopg_pool

    pool = psycopg_pool.ConnectionPool(url, min_size=2, max_size=10, open=True)
    pool.wait()

    def once():
        pool.putconn(pool.getconn())

    return psycopg_pool.__version__, once


def listen():
    """Open a port that accepts connections and keeps them."""
    listener = socket.create_server(("127.0.0.1", 0))
    kept = []

    def accept():
        while True:
            kept.append(listener.accept())

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def measure(once, seconds):
    for _ in range(1000):
        once()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        for _ in range(200):
            once()
        count += 200
    return count / (time.perf_counter() - began)


if __name__ == "__main__":
    name, seconds, *rest = sys.argv[1:]
    version, once = globals()[name](rest[0] if rest else "")
    print(json.dumps({"version": version, "per_second": measure(once, float(seconds))}))
