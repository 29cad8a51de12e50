"""Dramatiq on Redis: two processes with many threads."""

import os
import sys

import dramatiq
import load
from dramatiq.brokers.redis import RedisBroker

dramatiq.set_broker(RedisBroker(url=os.environ["REDIS"]))


@dramatiq.actor
def work(kind, at):
    load.work(kind, at)


if __name__ == "__main__":
    load.paced(work.send, sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
