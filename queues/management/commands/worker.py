"""`manage.py worker`: run queued jobs until a signal stops it."""

import os
import socket
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.timezone import now

from atributo_site.commands import AtributoCommand
from atributo_site.core.forking import die_with_parent
from queues.logic.storable import is_storable
from queues.worker.post import Post
from queues.worker.presence import WorkerPresence
from queues.worker.worker import Worker, default_name

LONGEST_NAME = 128


class Command(AtributoCommand):
    help = "Run queued jobs. Stops cleanly on SIGTERM or Ctrl-C, and with its parent process."
    needs_migrations = True
    # They would load every page and form of the site: 50 MB in each of two processes.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", default="", help="Name of this worker; default: host-pid.")
        parser.add_argument(
            "--instance",
            metavar="ID",
            help="Serve this instance: register it, run the sticky jobs whose key is allocated to "
            "it besides those that any worker may run, and make it unavailable at the end.",
        )

    def perform(self, **options: Any) -> None:
        name = options["name"] or default_name()
        if len(name) > LONGEST_NAME or not is_storable(name):
            raise CommandError(f"--name has at most {LONGEST_NAME} characters", returncode=2)
        die_with_parent()
        presence = WorkerPresence(name, _facts(options["instance"]))
        post = None if options["instance"] is None else Post(options["instance"], presence)
        Worker(name, presence, post).work()


def _facts(instance_id: str | None) -> dict[str, Any]:
    facts = {"pid": os.getpid(), "host": socket.gethostname(), "started": now().isoformat()}
    return {**facts, "instance": instance_id} if instance_id else facts
