"""Demo content, made through the public APIs alone."""

from typing import Any

from allocation.events import record
from atributo_site.commands import AtributoCommand


class Command(AtributoCommand):
    has_json = False
    help = "Fill an empty site with a small story to look at."

    def perform(self, **options: Any) -> None:
        record("demo.made", "site:demo")
        self.stdout.write("Demo content is made.")
