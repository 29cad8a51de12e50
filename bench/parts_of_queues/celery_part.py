"""Celery on Redis; with RESULTS its results go to a database."""

import os
import time

from celery import Celery

app = Celery(
    "celery_part",
    broker=os.environ["REDIS"].replace("unix://", "redis+socket://").replace("?db=0", ""),
    backend=os.environ.get("RESULTS") or None,
)
app.conf.task_ignore_result = not os.environ.get("RESULTS")


@app.task
def noop():
    return None


@app.task
def mark(path):
    with open(path, "a") as file:
        file.write(f"{time.time()}\n")


def many(count):
    for _ in range(count):
        noop.delay()


def one():
    noop.delay()


def marked(path):
    mark.delay(path)


if __name__ == "__main__":
    import celery_part
    from pushing import main

    main(celery_part)
