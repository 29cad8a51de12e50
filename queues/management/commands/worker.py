"""`manage.py worker`: runs queued jobs until it is told to stop."""

import os
import socket
from typing import Any

from django.core.management.base import CommandParser
from django.utils.timezone import now

from atributo_site.commands import AtributoCommand
from queues.mortality import die_with_parent
from queues.presence import Presence
from queues.worker import Worker, default_name


class Command(AtributoCommand):
    help = "Run queued jobs. Stops cleanly on SIGTERM or Ctrl-C, and with its parent process."
    # They would load every page and form of the site: 50 MB in each of two processes.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", default="", help="Name of this worker; default: host-pid.")

    def perform(self, **options: Any) -> None:
        die_with_parent()
        name = options["name"] or default_name()
        presence = Presence(name, _facts())
        presence.arrive()
        Worker(name, presence).work()


def _facts() -> dict[str, Any]:
    return {"pid": os.getpid(), "host": socket.gethostname(), "started": now().isoformat()}
