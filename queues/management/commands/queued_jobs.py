"""`manage.py queued_jobs`: list and show jobs, and act on them one by one."""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from django.core.management.base import CommandParser

from atributo_site.commands import EXIT_REFUSED, AtributoCommand, listed_number
from atributo_site.core.errors import AtributoError
from atributo_site.core.models.clock import database_now
from queues import catalogue
from queues.api.jobs import job_or_404
from queues.jobs import actions
from queues.jobs.operations import matching
from queues.jobs.repeating import repeating, reschedule
from queues.management.arguments import (
    Subcommands,
    add_schedule,
    add_search,
    schedule_given,
    searched_for,
)
from queues.management.job_text import ATTEMPT_COLUMNS, attempt_rows, fact_rows, last_words
from queues.models import Queue, QueuedJob
from queues.models.job import CHOICES
from queues.queries.presenters import attempt_dicts, job_dict, wait_reason


class Action(NamedTuple):
    """What is done to one job (False: nothing), what to say then, and what else it takes."""

    do: Callable[..., bool | None]
    said: str
    otherwise: str = ""
    help: str = ""
    takes_reason: bool = False
    takes_schedule: bool = False


ACTIONS = {
    "abort": Action(
        actions.abort,
        "aborted",
        "had already finished",
        "The job ends as aborted, without callbacks.",
        takes_reason=True,
    ),
    "retry": Action(actions.reset, "will run again"),
    "run-now": Action(actions.run_now, "due now", "is not waiting"),
    "pause": Action(
        actions.pause,
        "paused",
        "was already paused",
        "A paused schedule does not start until it is resumed.",
        takes_reason=True,
    ),
    "resume": Action(actions.resume, "goes on", "was not paused"),
    "reschedule": Action(
        reschedule,
        "has a new schedule",
        "already had this schedule",
        "Change how often, how many times or until when a job repeats.",
        takes_schedule=True,
    ),
    "delete": Action(actions.delete, "deleted"),
}


class End(NamedTuple):
    job: int
    changed: bool
    said: str
    refusal: str = ""

    def facts(self) -> dict[str, str]:
        return {"error": self.refusal} if self.refusal else {}


class Command(AtributoCommand):
    help = "Jobs: list, show, cancel, abort, retry, run-now, pause, resume, reschedule, delete."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = Subcommands(parser)
        listing = actions.add("list", help="Newest first.")
        listing.add_argument("--queue")
        listing.add_argument("--status", choices=[value for value, _ in CHOICES])
        add_search(listing)
        listing.add_argument("--repeating", action="store_true", help="Those that run again.")
        listing.add_argument("--limit", type=listed_number, default=20)
        actions.add("show", help="With its attempts.").add_argument("ids", nargs="+")
        cancelling = actions.add("cancel", help="Abort the unfinished job with a unique key.")
        cancelling.add_argument("queue")
        cancelling.add_argument("unique_key")
        cancelling.add_argument("--reason", default="")
        for name, action in ACTIONS.items():
            deed = actions.add(name, help=action.help)
            deed.add_argument("ids", nargs="+")
            if action.takes_reason:
                deed.add_argument("--reason", default="")
            if action.takes_schedule:
                add_schedule(deed)

    def perform(self, **options: Any) -> None:
        if options["action"] == "list":
            self._list(options)
        elif options["action"] == "show":
            self._show(options["ids"], options["json"])
        elif options["action"] == "cancel":
            self._cancel(options)
        else:
            self._do(ACTIONS[options["action"]], options)

    def _do(self, action: Action, options: dict[str, Any]) -> None:
        """Act on each job by itself: one that refuses neither hides nor stops the others."""
        given: dict[str, Any] = {"reason": options["reason"]} if action.takes_reason else {}
        if action.takes_schedule:
            given["changes"] = schedule_given(options)
        jobs = [job_or_404(job_id).pk for job_id in options["ids"]]
        ends = [_done(action, job_id, given) for job_id in jobs]
        if options["json"]:
            self.show([{"id": str(end.job), "changed": end.changed, **end.facts()} for end in ends])
        else:
            self._say(ends)
        if any(end.refusal for end in ends):
            sys.exit(EXIT_REFUSED)

    def _cancel(self, options: dict[str, Any]) -> None:
        key = options["unique_key"]
        job_id = catalogue.get(options["queue"]).cancel(key, reason=options["reason"])
        if options["json"]:
            self.show({"id": job_id})
        elif job_id is None:
            self.stdout.write(f"no unfinished job has the unique key {key}")
        else:
            self.stdout.write(f"{job_id} aborted")

    def _say(self, ends: list[End]) -> None:
        for end in ends:
            if end.refusal:
                self.lines([end.refusal], self.stderr)
            else:
                self.stdout.write(f"{end.job} {end.said}")

    def _list(self, options: dict[str, Any]) -> None:
        jobs = repeating() if options["repeating"] else _searched(options)
        # With old statistics PostgreSQL would join all jobs with their queues, and then sort them.
        jobs = jobs.prefetch_related("queue").order_by("-id")
        if options["queue"]:
            queues = Queue.objects.filter(name=options["queue"]).values_list("pk", flat=True)
            jobs = jobs.filter(queue__in=list(queues))
        if options["status"]:
            jobs = jobs.filter(status=options["status"])
        now = database_now()
        jobs_shown = [job_dict(job, now) for job in jobs[: options["limit"]]]
        if options["json"]:
            self.show(jobs_shown)
            return
        rows = [
            [j["id"], j["queue"], j["script"]["name"], j["state"], j["run"], j["error"][:60]]
            for j in jobs_shown
        ]
        self.table(["id", "queue", "script", "state", "run", "error"], rows)

    def _show(self, ids: list[str], as_json: bool) -> None:
        jobs = [_whole(job_or_404(job_id)) for job_id in ids]
        if as_json:
            return self.show(jobs)
        for job in jobs:
            self._tell(job)

    def _tell(self, job: dict[str, Any]) -> None:
        self.table(["", ""], fact_rows(job))
        if job["attempts"]:
            self.table(ATTEMPT_COLUMNS, attempt_rows(job))
        self.lines(last_words(job))


def _whole(job: QueuedJob) -> dict[str, Any]:
    now = database_now()
    return {
        **job_dict(job, now),
        "waits_for": wait_reason(job, now),
        "attempts": attempt_dicts(job),
    }


def _searched(options: dict[str, Any]) -> Any:
    """Search as the page "Jobs" does, if anything is searched for."""
    query = searched_for(options)
    return matching(query, database_now()).jobs if query else QueuedJob.objects.visible()


def _done(action: Action, job_id: int, given: dict[str, Any]) -> End:
    try:
        changed = action.do(job_id, **given) is not False
    except AtributoError as error:
        return End(job_id, False, "", str(error))
    return End(job_id, changed, action.said if changed else action.otherwise)
