"""Deallocate jobs."""

import argparse
from typing import Any

from allocation.placement import operations
from atributo_site.commands import AtributoCommand
from atributo_site.core.text import pluralize


class Command(AtributoCommand):
    help = "Forget the instances of these job ids; those that have none are fine."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("job_ids", nargs="+", metavar="job_id")

    def perform(self, job_ids: list[str], **options: Any) -> None:
        count = len(operations.deallocate_many(job_ids))
        if options["json"]:
            return self.show({"deallocated": count})
        asked = pluralize(len(job_ids), "job id was", "job ids were")
        self.stdout.write(f"{count} of {asked} allocated, and no longer.")
