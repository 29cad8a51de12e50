"""Atributo: DATABASE_URL, REDIS_URL and ATRIBUTO_SERVICE_ROOTS in the environment."""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")

import django  # noqa: E402

django.setup()

import queues  # noqa: E402
from queues.jobs.handles import QueueHandle  # noqa: E402

MOUNT = "/bench"
queue = QueueHandle("bench")


def many(count):
    for begin in range(0, count, 5000):
        queue.push_many({"mount": MOUNT, "name": "noop"}, [None] * min(5000, count - begin))


def one():
    queue.push({"mount": MOUNT, "name": "noop"})


def marked(path):
    queue.push({"mount": MOUNT, "name": "mark"}, path)


def prepare():
    from django.core.management import call_command

    from queues.services import installation

    call_command("migrate", verbosity=0)
    installation.install("bench_service", MOUNT, setup=False)
    queues.create("bench", 1)


def work_one_by_one():
    """Run a worker that claims, runs and records one job at a time."""
    from django.core.management import call_command

    from queues.worker import slot_runner

    slot_runner.LARGEST_BATCH = 1
    call_command("worker")


if __name__ == "__main__":
    from pushing import main

    if sys.argv[1] == "schema":
        prepare()
    elif sys.argv[1] == "worker":
        work_one_by_one()
    else:
        main(sys.modules["__main__"])
