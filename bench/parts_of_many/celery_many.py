"""Celery on Redis, with late acknowledgement as far as it goes."""

import os
import sys

import load
from celery import Celery

broker = os.environ["REDIS"].replace("unix://", "redis+socket://")
app = Celery("celery_many", broker=broker)
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=2, task_acks_late=True)


@app.task(name="work")
def work(kind, at):
    load.work(kind, at)


if __name__ == "__main__":
    load.paced(work.delay, sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
