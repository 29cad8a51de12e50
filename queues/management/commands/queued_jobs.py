"""`manage.py queued_jobs`: list, show, abort, retry, run now, pause, resume, delete jobs."""

from typing import Any

from django.core.management.base import CommandParser

from allocation.models.clock import database_now
from atributo_site.commands import AtributoCommand
from queues import pausing, steering
from queues.api_jobs import found
from queues.management.subcommands import Subcommands
from queues.models import QueuedJob
from queues.models.job import CHOICES
from queues.repeating import repeating
from queues.shown import attempts_shown, job_shown
from queues.waiting import waiting_said

ACTIONS = {
    "retry": steering.reset,
    "run-now": steering.run_now,
    "delete": steering.delete,
    "resume": pausing.resume,
}
HELP = {
    "abort": "It ends as failed, without callback.",
    "pause": "One that repeats starts no more until it is resumed.",
}
REASONED = {"abort": steering.abort, "pause": pausing.pause}


class Command(AtributoCommand):
    help = "Jobs: list, show, abort, retry, run-now, pause, resume, delete."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = Subcommands(parser)
        listing = actions.add("list", help="Newest first.")
        listing.add_argument("--queue")
        listing.add_argument("--status", choices=[value for value, _ in CHOICES])
        listing.add_argument("--repeating", action="store_true", help="Those that run again.")
        listing.add_argument("--limit", type=int, default=20)
        for name in ("show", *ACTIONS):
            actions.add(name).add_argument("ids", nargs="+")
        for name, said in HELP.items():
            reasoned = actions.add(name, help=said)
            reasoned.add_argument("ids", nargs="+")
            reasoned.add_argument("--reason", default="")

    def perform(self, **options: Any) -> None:
        if options["action"] == "list":
            self._list(options)
        elif options["action"] == "show":
            self._show(options["ids"])
        elif options["action"] in REASONED:
            for job_id in options["ids"]:
                REASONED[options["action"]](found(job_id).pk, reason=options["reason"])
        else:
            for job_id in options["ids"]:
                ACTIONS[options["action"]](found(job_id).pk)

    def _list(self, options: dict[str, Any]) -> None:
        jobs = repeating() if options["repeating"] else QueuedJob.objects.visible()
        jobs = jobs.select_related("queue").order_by("-id")
        if options["queue"]:
            jobs = jobs.filter(queue__name=options["queue"])
        if options["status"]:
            jobs = jobs.filter(status=options["status"])
        shown = [job_shown(job, job.schema()) for job in jobs[: max(1, options["limit"])]]
        if options["json"]:
            self.show(shown)
            return
        rows = [
            [j["id"], j["queue"], j["script"]["name"], j["status"], j["run"], j["error"][:60]]
            for j in shown
        ]
        self.table(["id", "queue", "script", "status", "run", "error"], rows)

    def _show(self, ids: list[str]) -> None:
        jobs = [found(job_id) for job_id in ids]
        self.show(
            [
                {
                    **job_shown(job, job.schema()),
                    "waits_for": waiting_said(job, database_now()),
                    "attempts": attempts_shown(job),
                }
                for job in jobs
            ]
        )
