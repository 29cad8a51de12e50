"""Atributo: DATABASE_URL, REDIS_URL and ATRIBUTO_SERVICE_ROOTS in the environment."""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")

import django  # noqa: E402

django.setup()

import queues  # noqa: E402

MOUNT = "/bench"


def many(count):
    queue = queues.get("bench")
    for begin in range(0, count, 5000):
        queue.push_many({"mount": MOUNT, "name": "noop"}, [None] * min(5000, count - begin))


def one():
    queues.get("bench").push({"mount": MOUNT, "name": "noop"})


def marked(path):
    queues.get("bench").push({"mount": MOUNT, "name": "mark"}, path)


def prepare():
    from django.core.management import call_command

    from queues import installation

    call_command("migrate", verbosity=0)
    installation.install("bench_service", MOUNT, setup=False)
    queues.create("bench", 1)


if __name__ == "__main__":
    from pushing import main

    if sys.argv[1] == "schema":
        prepare()
    else:
        main(sys.modules["__main__"])
