"""Which Django apps a process loads: those for pages and REST are left out where nobody sees any.

They bring no tables of ours, but more than half of the modules: a command that lists instances
would take twice as long to say anything, and a curator half as much memory again.
"""

from collections.abc import Sequence
from pathlib import Path

FOR_PAGES = [
    "atributo_site.web.admin_app.AdminConfig",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "django_htmx",
    "django_rq",
    "csp",
]
PROGRAMS = {"manage.py", "atributo", "__main__.py"}
# Commands of ours that need none of them; those of Django and of libraries get all.
LIGHT = {
    "allocate",
    "batches",
    "deallocate",
    "docs",
    "documents",
    "incidents",
    "instances",
    "job_id",
    "jobs",
    "locks",
    "operations",
    "pools",
    "push",
    "queue",
    "queued_jobs",
    "schedules",
    "rebalance",
    "resolve",
    "run_curator",
    "sbom",
    "script",
    "service",
    "transactions",
    "verify",
    "worker",
}


def installed_apps(every: Sequence[str], argv: Sequence[str]) -> list[str]:
    """Return the apps of the process with this command line."""
    if not is_light(argv):
        return list(every)
    return [app for app in every if app not in FOR_PAGES]


def is_light(argv: Sequence[str]) -> bool:
    words = [word for word in argv[1:3] if word != "help"]  # help instances
    return bool(words) and Path(argv[0]).name in PROGRAMS and words[0] in LIGHT
