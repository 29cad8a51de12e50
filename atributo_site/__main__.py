"""The terminal's door outside of a checkout: `atributo help` lists every command."""

import os
import sys

ALIASES = {"curator": "run_curator"}


def main() -> int:
    """Run the command line; exit codes are those of the commands."""
    if len(sys.argv) > 1 and sys.argv[1].startswith(("--url", "--token")):
        return _at_another_site(sys.argv[1:])
    sys.argv[1:2] = [ALIASES.get(word, word) for word in sys.argv[1:2]]
    return run(sys.argv)


def run(argv: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    from django.core.management import execute_from_command_line
    from django.db import Error

    from atributo_site.config.environment import BadEnvironment
    from atributo_site.django_commands import recorded

    try:
        with recorded(argv):
            execute_from_command_line(argv)
    except BadEnvironment as error:
        print(error, file=sys.stderr)
        return 2
    except Error as error:  # of a command of Django's own; ours know what to say
        from atributo_site.commands import database_failed

        print(database_failed(error), file=sys.stderr)
        return 1
    return 0


def _at_another_site(words: list[str]) -> int:
    """Hand on to the client, which needs no settings: `atributo --url … --token … push …`."""
    try:
        from atributo_client.__main__ import main as client
    except ModuleNotFoundError:
        print("The client is not installed: pip install 'atributo[client]'.", file=sys.stderr)
        return 2
    return client(words)


if __name__ == "__main__":
    sys.exit(main())
