"""Deallocate jobs."""

import argparse
from typing import Any

from allocation.placement import operations
from atributo_site.commands import AtributoCommand
from atributo_site.core.text import pluralize


class Command(AtributoCommand):
    help = "Deallocate these keys. Keys without an instance are fine."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("job_ids", nargs="+", metavar="job_id")

    def perform(self, job_ids: list[str], **options: Any) -> None:
        count = len(operations.deallocate_many(job_ids))
        if options["json"]:
            return self.show({"deallocated": count})
        asked = pluralize(len(job_ids), "key")
        self.stdout.write(f"Deallocated {count} of {asked}.")
