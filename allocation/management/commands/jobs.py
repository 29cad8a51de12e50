"""List the jobs of an instance."""

import argparse
from typing import Any

from allocation.models import Allocation
from atributo_site.commands import AtributoCommand, listed_number
from atributo_site.core.ids import valid_id


class Command(AtributoCommand):
    help = "List the keys that are allocated to an instance."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("instance_id")
        parser.add_argument("--limit", type=listed_number, default=1000)
        parser.add_argument("--after", default="", help="only ids behind this one")

    def perform(self, instance_id: str, limit: int, after: str, **options: Any) -> None:
        rows = Allocation.objects.on(valid_id(instance_id)).order_by("job_id")
        if after:
            rows = rows.filter(job_id__gt=after)
        job_ids = list(rows.values_list("job_id", flat=True)[:limit])
        if options["json"]:
            return self.show(job_ids)
        for job_id in job_ids:
            self.stdout.write(job_id)
