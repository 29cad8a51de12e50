"""Show what a name or address resolves to, as the library's own resolver sees it."""

import sys

from django.core.management.base import BaseCommand

from pools.net.dns import cbresolve


class Command(BaseCommand):
    """Pass options, output and exit codes of the library through, without Django's."""

    requires_system_checks: list[str] = []
    help = "Locate a service in DNS: 0 when backends were found, 1 when not, 2 for wrong usage."

    def run_from_argv(self, argv: list[str]) -> None:
        sys.exit(cbresolve.main(argv[2:], sys.stdout, sys.stderr))
