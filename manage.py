#!/usr/bin/env python
"""The terminal's door: `./manage.py help` lists every command."""

import os
import sys


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")
    from django.core.management import execute_from_command_line
    from django.db import Error

    from atributo_site.config.environment import BadEnvironment
    from atributo_site.django_commands import recorded

    try:
        with recorded(sys.argv):
            execute_from_command_line(sys.argv)
    except BadEnvironment as error:
        print(error, file=sys.stderr)
        return 2
    except Error as error:  # of a command of Django's own; ours know what to say
        from atributo_site.commands import database_failed

        print(database_failed(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
