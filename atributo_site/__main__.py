"""The terminal's door outside of a checkout: `atributo help` lists every command."""

import gc
import os
import sys

from atributo_site import __version__

ALIASES = {"curator": "run_curator"}
FIRST_WORDS = """\
Atributo {version}. To begin with:
  atributo up                        start everything on this machine
  atributo doctor                    say what is wrong here, and how to fix it
  atributo docs                      list the pages of the manual; docs NAME prints one
  atributo --url URL --token TOKEN   do something at a site on another machine
"""


def main() -> int:
    """Run the command line; exit codes are those of the commands."""
    if len(sys.argv) > 1 and sys.argv[1].startswith(("--url", "--token")):
        return _at_another_site(sys.argv[1:])
    if sys.argv[1:] in (["--version"], ["version"]):
        print(f"Atributo {__version__}")
        return 0
    if sys.argv[1:] in ([], ["help"], ["--help"], ["-h"]):
        print(FIRST_WORDS.format(version=__version__))
    sys.argv[1:2] = [ALIASES.get(word, word) for word in sys.argv[1:2]]
    return run(sys.argv)


def run(argv: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    # Loading makes hundreds of thousands of objects that stay: to look through them again and
    # again for garbage took a twentieth of the time of a simple command.
    gc.set_threshold(10_000, 10, 10)
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
    return client(words, "atributo")


if __name__ == "__main__":
    sys.exit(main())
