"""Huey on Redis or, with HUEY_FILE, on SQLite."""

import os
import sys
import time

from huey import RedisHuey, SqliteHuey

huey = (
    SqliteHuey("bench", filename=os.environ["HUEY_FILE"])
    if os.environ.get("HUEY_FILE")
    else RedisHuey("bench", url=os.environ["REDIS"])
)


@huey.task()
def noop():
    return None


@huey.task()
def mark(path):
    with open(path, "a") as file:
        file.write(f"{time.time()}\n")


def many(count):
    for _ in range(count):
        noop()


def one():
    noop()


def marked(path):
    mark(path)


if __name__ == "__main__":
    import huey_part
    from pushing import main

    main(huey_part)
    sys.exit()
