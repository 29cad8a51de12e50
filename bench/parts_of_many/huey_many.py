"""Huey on Redis: one process with many threads."""

import os
import sys

import load
from huey import RedisHuey

huey = RedisHuey("many", url=os.environ["REDIS"], results=False)


@huey.task()
def work(kind, at):
    load.work(kind, at)


if __name__ == "__main__":
    from huey_many import work  # under the name by which the consumer knows it

    load.paced(work, sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
