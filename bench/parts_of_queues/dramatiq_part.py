"""Dramatiq on Redis."""

import os
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker

dramatiq.set_broker(RedisBroker(url=os.environ["REDIS"]))


@dramatiq.actor
def noop():
    return None


@dramatiq.actor
def mark(path):
    with open(path, "a") as file:
        file.write(f"{time.time()}\n")


def many(count):
    for _ in range(count):
        noop.send()


def one():
    noop.send()


def marked(path):
    mark.send(path)


if __name__ == "__main__":
    import dramatiq_part
    from pushing import main

    main(dramatiq_part)
