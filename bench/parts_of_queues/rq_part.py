"""RQ: pushes, and the functions its workers run. REDIS in the environment."""

import os
import time

from redis import Redis
from rq import Queue

connection = Redis.from_url(os.environ["REDIS"])


def noop():
    return None


def mark(path):
    with open(path, "a") as file:
        file.write(f"{time.time()}\n")


def many(count):
    queue = Queue(connection=connection)
    for begin in range(0, count, 1000):
        queue.enqueue_many(
            [Queue.prepare_data(noop, result_ttl=500) for _ in range(min(1000, count - begin))]
        )


def one():
    Queue(connection=connection).enqueue(noop)


def marked(path):
    Queue(connection=connection).enqueue(mark, path)


if __name__ == "__main__":
    import rq_part
    from pushing import main

    main(rq_part)
