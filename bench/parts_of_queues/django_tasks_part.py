"""django-tasks with its database backend, on PostgreSQL."""

import os
import sys
import time

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "django_tasks_settings")

import django  # noqa: E402

django.setup()

from django_tasks import task  # noqa: E402


@task()
def noop():
    return None


@task()
def mark(path):
    with open(path, "a") as file:
        file.write(f"{time.time()}\n")


def many(count):
    for _ in range(count):
        noop.enqueue()


def one():
    noop.enqueue()


def marked(path):
    mark.enqueue(path)


if __name__ == "__main__":
    import django_tasks_part
    from django.core.management import call_command
    from pushing import main

    if sys.argv[1] == "schema":
        call_command("migrate", verbosity=0)
    elif sys.argv[1] == "worker":
        call_command("db_worker", interval=0.1, verbosity=0)
    else:
        main(django_tasks_part)
