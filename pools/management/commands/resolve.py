"""What a name or address resolves to, as the library's own resolver sees it."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from pools.net import cbresolve


class Command(BaseCommand):
    """The options are those of `cbresolve`, so Django's own are not mixed in."""

    help = "Locate a service in DNS: 0 when backends were found, 1 when not, 2 for wrong usage."
    requires_system_checks: list[str] = []

    def run_from_argv(self, argv: list[str]) -> None:
        sys.exit(cbresolve.main(argv[2:], sys.stdout, sys.stderr))

    def handle(self, *args: Any, **options: Any) -> None:
        """For `call_command`, which has no command line."""
        code = cbresolve.main([str(arg) for arg in args], self.stdout, self.stderr)  # type: ignore[arg-type]
        if code:
            sys.exit(code)
