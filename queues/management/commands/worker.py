"""`manage.py worker`: run queued jobs until a signal stops it."""

import os
import socket
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError
from django.utils.timezone import now

from atributo_site.commands import AtributoCommand
from atributo_site.core.forking import die_with_parent
from queues.functions.rows import store_at_start
from queues.logic.queue_choice import parsed
from queues.logic.storable import is_storable
from queues.models import Queue
from queues.worker.plan import MOST_CHILDREN, WorkPlan
from queues.worker.post import Post
from queues.worker.presence import WorkerPresence
from queues.worker.worker import Worker, default_name

LONGEST_NAME = 128
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Command(AtributoCommand):
    help = "Run queued jobs. Stops cleanly on SIGTERM or Ctrl-C, and with its parent process."
    needs_migrations = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "queues",
            nargs="*",
            metavar="QUEUE",
            help="Serve these queues only, names or patterns such as 'mail-*'. Those named earlier "
            "come first; with weights, as in critical:3 default:1, they share the time by weight. "
            "Default: ATRIBUTO_WORKER_QUEUES, else all queues in turn.",
        )
        parser.add_argument(
            "--exclude",
            action="append",
            metavar="QUEUE",
            help="Leave these queues to others; names or patterns, once for each. "
            "Default: ATRIBUTO_WORKER_EXCLUDE.",
        )
        parser.add_argument(
            "--concurrency",
            metavar="N",
            help="Processes in which jobs run at the same time. Default: "
            "ATRIBUTO_WORKER_CONCURRENCY, else 1.",
        )
        parser.add_argument("--burst", action="store_true", help="Stop when no job is left.")
        parser.add_argument("--max-jobs", metavar="N", help="Stop after this many jobs.")
        parser.add_argument(
            "--max-age",
            metavar="DURATION",
            help="Take no more jobs after this time and stop when the running ones have ended: "
            "seconds, or 90m, 12h, 7d.",
        )
        parser.add_argument("--name", default="", help="Name of this worker; default: host-pid.")
        parser.add_argument(
            "--instance",
            metavar="ID",
            help="Serve this instance: register it, run the sticky jobs whose key is allocated to "
            "it as well as jobs that any worker may run, and make it unavailable at the end.",
        )

    def check_options(self, **options: Any) -> None:
        if len(options["name"]) > LONGEST_NAME or not is_storable(options["name"]):
            raise CommandError(f"--name has at most {LONGEST_NAME} characters", returncode=2)
        _plan(options)

    def perform(self, **options: Any) -> None:
        name = options["name"] or default_name()
        plan = _plan(options)
        self._tell_missing(plan)
        die_with_parent()
        store_at_start()
        presence = WorkerPresence(name, _facts(options["instance"], plan))
        post = None if options["instance"] is None else Post(options["instance"], presence)
        Worker(name, presence, post, plan).work()

    def _tell_missing(self, plan: WorkPlan) -> None:
        """Warn of names without a queue, which may be typing errors or may be created later."""
        try:
            there = set(
                Queue.objects.filter(name__in=plan.choice.names, deleted_at=None).values_list(
                    "name", flat=True
                )
            )
        except DatabaseError:  # the worker waits for it
            return
        for name in plan.choice.names:
            if name not in there:
                hint = "; names are separated by spaces" if "," in name else ""
                text = f"no queue is named {name!r} yet; it is served once it exists{hint}"
                self.lines([text], self.stderr)


def _plan(options: dict[str, Any]) -> WorkPlan:
    environment = settings.ATRIBUTO
    excluded = options["exclude"] if options["exclude"] is not None else environment.worker_exclude
    try:
        choice = parsed(options["queues"] or environment.worker_queues, excluded)
    except ValueError as error:
        raise CommandError(str(error), returncode=2) from error
    excluded_too = [name for name in choice.names if not choice.serves(name)]
    if excluded_too:
        raise CommandError(f"the queue {excluded_too[0]!r} is named and excluded", returncode=2)
    concurrency = _number(options, "concurrency", MOST_CHILDREN)
    return WorkPlan(
        choice,
        environment.worker_concurrency if concurrency is None else concurrency,
        options["burst"],
        _number(options, "max_jobs", 10**9),
        _seconds(options["max_age"]),
    )


def _number(options: dict[str, Any], name: str, most: int) -> int | None:
    """Return a whole number from 1 on; anything else is refused with its name."""
    given = options[name]
    if given is None:
        return None
    text = str(given)
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= most):
        option = name.replace("_", "-")
        raise CommandError(f"--{option} is {text!r}, not a number from 1 to {most}", returncode=2)
    return int(text)


def _seconds(given: str | None) -> float | None:
    if given is None:
        return None
    text = str(given)
    number, unit = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 1)
    if not (number.isascii() and number.isdigit() and 1 <= len(number) <= 8 and int(number)):
        raise CommandError(
            f"--max-age is {text!r}, not a duration such as 3600, 90m, 12h or 7d", returncode=2
        )
    return int(number) * unit


def _facts(instance_id: str | None, plan: WorkPlan) -> dict[str, Any]:
    facts = {"pid": os.getpid(), "host": socket.gethostname(), "started": now().isoformat()}
    facts |= plan.choice.facts
    if plan.concurrency > 1:
        facts["concurrency"] = plan.concurrency
    return {**facts, "instance": instance_id} if instance_id else facts
