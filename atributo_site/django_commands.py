"""Record an event for commands of Django and its apps that change something."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import django
from django.db import Error

# What can do anything, or runs until it is stopped, is recorded at its start, without
# arguments, which may hold code and passwords.
OPEN_ENDED = {"dbshell", "shell", "rqcron", "rqscheduler", "rqworker", "rqworker-pool"}
CHANGING = {
    "axes_reset",
    "axes_reset_failure_logs",
    "axes_reset_ip",
    "axes_reset_ip_username",
    "axes_reset_logs",
    "axes_reset_username",
    "changepassword",
    "clearsessions",
    "createcachetable",
    "createsuperuser",
    "flush",
    "loaddata",
    "migrate",
    "remove_stale_contenttypes",
    "rqenqueue",
    "rqresume",
    "rqsuspend",
}
# These write files, test databases or nothing.
HARMLESS = {
    "axes_list_attempts",
    "check",
    "collectstatic",
    "compilemessages",
    "diffsettings",
    "dumpdata",
    "findstatic",
    "generateschema",
    "inspectdb",
    "makemessages",
    "makemigrations",
    "optimizemigration",
    "rqstats",
    "runserver",
    "sendtestemail",
    "showmigrations",
    "spectacular",
    "sqlflush",
    "sqlmigrate",
    "sqlsequencereset",
    "squashmigrations",
    "startapp",
    "startproject",
    "test",
    "testserver",
}
ASKS = {"-h", "--help", "--version", "--check", "--plan"}  # and changes nothing


@contextmanager
def recorded(argv: Sequence[str]) -> Iterator[None]:
    """Record the command line that runs inside, with the system's user, unless it fails."""
    name, arguments = (argv[1] if len(argv) > 1 else ""), list(argv[2:])
    if name in OPEN_ENDED and not ASKS & set(arguments):
        _record(name)
    yield
    if name in CHANGING and not ASKS & set(arguments):
        _record(name, arguments=arguments)


def _record(name: str, **facts: Any) -> None:
    """Print a warning if the event cannot be stored: the command may be there to mend just that."""
    django.setup()
    from atributo_site.commands import os_user
    from atributo_site.core.events import Actor, acting, record

    try:
        with acting(Actor(os_user(), "command")):
            record("command.ran", f"command:{name}", **facts)
    except Error as error:
        print(f"No event tells of this {name}: {error}", file=sys.stderr)
