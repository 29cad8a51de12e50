"""Fill a fresh database for the REST benchmark and print a token: instances, a queue, a script."""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atributo_site.settings")


def main() -> int:
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    import queues
    from allocation.atributo import Atributo
    from atributo_site.web import tokens
    from queues.services import installation

    call_command("migrate", verbosity=0)
    for number in range(10):
        Atributo().available(f"instance-{number}")
    queues.create("bench")
    installation.install("counter", "/counter")
    user = get_user_model().objects.create_superuser("bench", password=None)
    print(tokens.make_token(user, "bench", "administer", 1)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
