"""Ours: install the service, make the queue, push."""

import os
import sys
import time

sys.path.insert(0, os.environ["ROOT"])
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402

import queues  # noqa: E402
from bench.parts_of_many import load  # noqa: E402


def schema() -> None:
    from queues.services import installation

    call_command("migrate", verbosity=0)
    installation.install("waits_service", "/waits", setup=False)
    queues.create("many", max_workers=100)


def push() -> None:
    handle = queues.get("many")
    script = {"mount": "/waits", "name": os.environ["SCRIPT"]}
    given = {name: os.environ[name] for name in ("MARKS", "SLOW_URL")}  # scripts do not see ours
    if float(sys.argv[3]):
        load.paced(
            lambda kind, at: handle.push(script, {"kind": kind, "at": at, "given": given}),
            sys.argv[1],
            int(sys.argv[2]),
            float(sys.argv[3]),
        )
        return
    order = {"kind": sys.argv[1], "at": time.time(), "given": given}
    handle.push_many(script, [order] * int(sys.argv[2]))


if __name__ == "__main__":
    schema() if sys.argv[1] == "schema" else push()
