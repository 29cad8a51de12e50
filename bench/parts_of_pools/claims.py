"""Measure claim and release: `python claims.py NAME SECONDS THREADS [URL]`.

Every pool has a connection for each thread, so nobody waits for anything but the pool itself. Runs
with the interpreter that has the peer installed, so it imports nothing before it must.
"""

import json
import socket
import sqlite3
import sys
import threading
import time


def ours(url, size):
    from pools import ConnectionPool, StaticIpResolver

    port = listen()
    resolver = StaticIpResolver([{"address": "127.0.0.1", "port": port}])
    resolver.start()
    pool = ConnectionPool(
        constructor=lambda backend: socket.create_connection((backend.address, backend.port)),
        resolver=resolver,
        recovery={"default": {"timeout": 1000, "retries": 3, "delay": 100}},
        spares=size,
        maximum=size,
    )
    while pool.get_stats()["idle_connections"] < size:
        time.sleep(0.01)
    claim = pool.claim

    def once():
        with claim():
            pass

    return "this tree", once


def redis(url, size):
    import redis

    pool = redis.ConnectionPool.from_url(url)

    def once():
        pool.release(pool.get_connection())

    return redis.__version__, once


def sqlalchemy(url, size):
    import sqlalchemy
    from sqlalchemy.pool import QueuePool

    pool = QueuePool(lambda: sqlite3.connect(":memory:", check_same_thread=False), pool_size=size)

    def once():
        pool.connect().close()

    return sqlalchemy.__version__, once


def urllib3(url, size):
    import urllib3

    pool = urllib3.HTTPConnectionPool("127.0.0.1", listen(), maxsize=size)
    first = pool._get_conn()
    first.connect()
    pool._put_conn(first)

    def once():
        pool._put_conn(pool._get_conn())

    return urllib3.__version__, once


def psycopg(url, size):
    import psycopg_pool

    pool = psycopg_pool.ConnectionPool(url, min_size=size, max_size=size, open=True)
    pool.wait()

    def once():
        pool.putconn(pool.getconn())

    return psycopg_pool.__version__, once


def listen():
    """Open a port that accepts connections and keeps them."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    kept = []

    def accept():
        while True:
            kept.append(listener.accept())

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def measure(once, seconds, threads):
    """Return the rates per second of the clock and of the processor."""
    for _ in range(1000):
        once()
    counts, ends_at = [0] * threads, time.perf_counter() + seconds

    def work(number):
        while time.perf_counter() < ends_at:
            for _ in range(50):
                once()
            counts[number] += 50

    began, cpu = time.perf_counter(), time.process_time()
    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {"per_second": sum(counts) / took, "per_cpu_second": sum(counts) / cpu}


if __name__ == "__main__":
    name, seconds, threads, *rest = sys.argv[1:]
    version, once = globals()[name](rest[0] if rest else "", max(int(threads), 2))
    print(json.dumps({"version": version, **measure(once, float(seconds), int(threads))}))
