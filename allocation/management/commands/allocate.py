"""Allocate jobs, or tell where they are."""

import argparse
from typing import Any

from django.core.management import CommandError

from allocation.logic.labels import read
from allocation.placement import operations, plans
from allocation.placement.explain import explain
from atributo_site.commands import AtributoCommand


class Command(AtributoCommand):
    help = "Print the instance of each key. A key without one is allocated now."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("job_ids", nargs="+", metavar="job_id")
        parser.add_argument(
            "--label",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="only an instance with this label, now and when the key moves",
        )
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--plan", action="store_true", help="store nothing")
        how.add_argument("--explain", action="store_true", help="where, since when and why")

    def perform(self, job_ids: list[str], **options: Any) -> None:
        if options["explain"]:
            return self._explain(job_ids, **options)
        labels = _labels(options["label"])
        if options["plan"]:
            answers: list[dict[str, Any]] = [
                {"job_id": job_id, "instance_id": key, "persisted": False}
                for job_id, key in plans.plan_jobs(job_ids, labels=labels).items()
            ]
        else:
            answers = self._allocated(job_ids, labels)
        if options["json"]:
            return self.show(answers)
        for facts in answers:
            mark = " (new)" if facts["persisted"] else ""
            self.stdout.write(f"{facts['job_id']}: {facts['instance_id']}{mark}")

    def _allocated(self, job_ids: list[str], labels: dict[str, str]) -> list[dict[str, Any]]:
        if len(job_ids) == 1:
            answers = {job_ids[0]: operations.allocate(job_ids[0], labels)}
        else:
            answers = operations.allocate_many(job_ids, labels)
        return [{"job_id": job_id, **answer._asdict()} for job_id, answer in answers.items()]

    def _explain(self, job_ids: list[str], **options: Any) -> None:
        explanations = [explain(job_id) for job_id in job_ids]
        if options["json"]:
            return self.show(explanations)
        for facts in explanations:
            place, why = facts["placement"], facts["why"]
            if place is not None:
                since = f"since {place['since']:%Y-%m-%d %H:%M:%S} by {place['by']}"
                line = f"{facts['job_id']}: {place['instance_id']} {since}. {why['sentence']}"
                self.stdout.write(line)
            for past in facts["history"]:
                line = f"  before on {past['instance_id']} until {past['until']:%Y-%m-%d %H:%M:%S}"
                self.stdout.write(f"{line}: {past['end_reason']} by {past['ended_by']}")


def _labels(texts: list[str]) -> dict[str, str]:
    try:
        return read(texts)
    except ValueError as error:
        raise CommandError(str(error), returncode=2) from None
