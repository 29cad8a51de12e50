"""RQ: a pool of workers that fork for each job."""

import os
import sys

import load
from redis import Redis
from rq import Queue

if __name__ == "__main__":
    queue = Queue("many", connection=Redis.from_url(os.environ["REDIS"]))
    load.paced(
        lambda kind, at: queue.enqueue(load.work, kind, at, result_ttl=0),
        sys.argv[1],
        int(sys.argv[2]),
        float(sys.argv[3]),
    )
