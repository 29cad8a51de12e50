"""Deallocate jobs."""

import argparse
from typing import Any

from allocation import doors
from atributo_site.commands import AtributoCommand


class Command(AtributoCommand):
    help = "Forget the instances of these job ids; those that have none are fine."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("job_ids", nargs="+", metavar="job_id")

    def perform(self, job_ids: list[str], **options: Any) -> None:
        count = len(doors.deallocate_many(job_ids))
        if options["json"]:
            return self.show({"deallocated": count})
        self.stdout.write(f"{count} of {len(job_ids)} job ids were allocated and are no longer.")
