"""Make job ids, or read one."""

import argparse
from typing import Any

from allocation.job_ids import ids
from atributo_site.commands import AtributoCommand, whole_number, with_json


class Command(AtributoCommand):
    help = "Make job ids, or decode one."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")
        make = verbs.add_parser("make", help="print new ids")
        make.add_argument("count", type=whole_number(1, ids.MOST_IDS), nargs="?", default=1)
        decode = verbs.add_parser("decode", help="time, worker number and cluster size")
        decode.add_argument("job_id")
        for each in (make, decode):
            with_json(each)

    def perform(self, verb: str, **options: Any) -> None:
        getattr(self, f"_{verb}")(**options)

    def _make(self, count: int, **options: Any) -> None:
        try:
            made = [ids.get_job_id()] if count == 1 else ids.get_job_ids(count)
        finally:
            ids.release()  # so that the next command can take the number
        if options["json"]:
            return self.show(made)
        for job_id in made:
            self.stdout.write(job_id)

    def _decode(self, job_id: str, **options: Any) -> None:
        parsed = ids.parse(job_id)
        facts = {name: getattr(parsed, name) for name in parsed.__slots__}
        if options["json"]:
            return self.show({"job_id": job_id, **facts})
        note = "" if parsed.exact else " (its digits are not a valid date)"
        self.stdout.write(
            f"{parsed.time:%Y-%m-%d %H:%M:%S}.{parsed.time.microsecond // 1000:03d} UTC, "
            f"worker {parsed.worker_id} of {parsed.cluster_size}{note}"
        )
