"""`manage.py schedules`: what runs by the calendar; list, create, change, pause, resume, run."""

import argparse
import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from atributo_site.commands import AtributoCommand, integer, listed_number
from atributo_site.core.models.clock import database_now
from atributo_site.core.text import pluralize
from queues import schedules
from queues.logic.schedules.policies import Overlap
from queues.logic.schedules.words import rule_said
from queues.management.arguments import NEVER, Subcommands, json_value
from queues.models import Schedule
from queues.schedules import backfill, target
from queues.schedules.presenting import (
    expected_dict,
    preview,
    run_dict,
    schedule_dict,
    upcoming,
)

MOST = 1000
WITHOUT = argparse.SUPPRESS  # what is not said stays
TEXTS = {
    "queue": "The queue of its jobs; default.",
    "zone": "An IANA name such as Europe/Berlin; UTC.",
    "starts_at": "2030-01-31T12:00, in the schedule's zone.",
    "ends_at": f"2030-01-31T12:00 or {NEVER}, in the schedule's zone.",
    "jitter": "Begin up to so much later, such as 90s.",
    "catch_up": "How late a run may be after an outage, such as 1h.",
    "grace": "In which a run must have begun, such as 5m.",
}
NUMBERS = ("most_runs", "pause_after_failures")
RULES = ("cron", "every", "anchor", "calendar", "moments")


class Command(AtributoCommand):
    help = (
        "Schedules: list, show, create, change, preview, pause, resume, run, backfill, delete, "
        "deploy."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = Subcommands(parser)
        actions.add("list", help="Every schedule with its next run.")
        show = actions.add("show", help="One schedule with its next runs.")
        show.add_argument("name")
        runs = actions.add("runs", help="What a schedule expected and what became of it.")
        runs.add_argument("name")
        runs.add_argument("--limit", type=listed_number, default=20)
        create = actions.add("create", help="Create a schedule.")
        create.add_argument("name")
        create.add_argument("script", help="A script by its mount and name: /mailer/send-mail")
        _add_fields(create)
        change = actions.add("change", help="Change what is given.")
        change.add_argument("name")
        change.add_argument("--script", default=WITHOUT, help="/mailer/send-mail")
        _add_fields(change)
        look = actions.add("preview", help="The next runs of a rule, or of a changed schedule.")
        look.add_argument("name", nargs="?")
        _add_fields(look)
        pause = actions.add("pause", help="Expect no run for a while.")
        pause.add_argument("name")
        pause.add_argument("--reason", default="")
        pause.add_argument("--until", help="2030-01-31T12:00, in the schedule's zone.")
        fill = actions.add("backfill", help="Run slots of the past that had no run.")
        fill.add_argument("name")
        end = fill.add_mutually_exclusive_group()
        end.add_argument("--stop", action="store_true", help="Drop what still waits.")
        end.add_argument("--preview", action="store_true", help="Count only, store nothing.")
        fill.add_argument("--since", help="2030-01-31T12:00, in the schedule's zone.")
        fill.add_argument("--until", help="2030-02-01T12:00, in the schedule's zone.")
        fill.add_argument("--at-once", type=integer, default=1, metavar="N")
        deploy = actions.add("deploy", help="Make the schedules that @task declares.")
        deploy.add_argument("--preview", action="store_true", help="Tell only, store nothing.")
        for name in ("resume", "run", "delete"):
            actions.add(name).add_argument("name")

    def perform(self, **options: Any) -> None:
        getattr(self, f"_{options['action']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        found = Schedule.objects.select_related("queue")[: MOST + 1]
        rows = [schedule_dict(each) for each in found[:MOST]]
        if len(found) > MOST:
            more = f"these are the first {MOST} of {Schedule.objects.count()} schedules by name"
            self.lines([f"{more}; REST lists all"], self.stderr)
        if options["json"]:
            self.show(rows)
            return
        columns = ["name", "state", "said", "zone", "next_at", "queue"]
        table = [["–" if row[name] is None else row[name] for name in columns] for row in rows]
        self.table(["name", "state", "rule", "zone", "next run", "queue"], table)

    def _deploy(self, options: dict[str, Any]) -> None:
        changed = schedules.deploy(preview=options["preview"])
        if options["json"]:
            return self.show({module: each.facts() for module, each in changed.items()})
        lines = [
            f"{module}: {what}: {', '.join(names)}"
            for module, each in changed.items()
            for what, names in each.facts().items()
        ]
        self.lines(lines or ["nothing to change"])

    def _show(self, options: dict[str, Any]) -> None:
        schedule = schedules.row(options["name"])
        runs = [expected_dict(each) for each in upcoming(schedule, database_now())]
        if options["json"]:
            self.show({**schedule_dict(schedule), "upcoming": runs})
            return
        self._tell(schedule)
        self._print_runs(runs)

    def _runs(self, options: dict[str, Any]) -> None:
        runs = schedules.row(options["name"]).expected_runs.all()[: options["limit"]]
        rows = [run_dict(each) for each in runs]
        if options["json"]:
            self.show(rows)
            return
        columns = ["slot_at", "kind", "state", "late_seconds", "job_id", "reason"]
        table = [
            ["–" if row[name] in (None, "") else row[name] for name in columns] for row in rows
        ]
        self.table(["expected", "kind", "state", "late by (s)", "job", "reason"], table)

    def _create(self, options: dict[str, Any]) -> None:
        given = {**_given(options), "script": _script(options["script"])}
        self._answer(schedules.create(options["name"], **given).name, options)

    def _change(self, options: dict[str, Any]) -> None:
        given = _given(options)
        if "script" in options:
            given["script"] = _script(options["script"])
        if not given:
            raise CommandError("say what is to be changed", returncode=2)
        schedules.change(options["name"], **given)
        self._answer(options["name"], options)

    def _preview(self, options: dict[str, Any]) -> None:
        before = schedules.row(options["name"]) if options["name"] else None
        answer = preview(_given(options), database_now(), before)
        if options["json"]:
            self.show(answer)
            return
        self.lines([each for each in (answer["said"], answer["difference"]) if each])
        self._print_runs(answer["runs"])

    def _pause(self, options: dict[str, Any]) -> None:
        schedules.pause(options["name"], reason=options["reason"], until=options["until"])
        self._answer(options["name"], options)

    def _resume(self, options: dict[str, Any]) -> None:
        schedules.resume(options["name"])
        self._answer(options["name"], options)

    def _run(self, options: dict[str, Any]) -> None:
        job_id = schedules.run_now(options["name"])
        if options["json"]:
            self.show({"job_id": job_id})
        else:
            self.stdout.write(job_id)

    def _backfill(self, options: dict[str, Any]) -> None:
        name, since, until = options["name"], options["since"], options["until"]
        if options["stop"]:
            count, said = backfill.stop(name), "dropped"
        elif not since or not until:
            raise CommandError("give --since and --until, or --stop", returncode=2)
        elif options["preview"]:
            count, said = len(backfill.plan(name, since, until).slots), "would run"
        else:
            count, said = backfill.start(name, since, until, options["at_once"]), "wait"
        if options["json"]:
            self.show({"count": count})
        else:
            self.stdout.write(f"{pluralize(count, 'run')} {said}")

    def _delete(self, options: dict[str, Any]) -> None:
        schedules.delete(options["name"])

    def _answer(self, name: str, options: dict[str, Any]) -> None:
        schedule = schedules.row(name)
        if options["json"]:
            self.show(schedule_dict(schedule))
        else:
            self._tell(schedule)

    def _tell(self, schedule: Schedule) -> None:
        runs = f"{target.said(schedule)} on queue {schedule.queue.name}"
        words = [f"{schedule.name}: {schedule.state}, {rule_said(schedule.rule)}"]
        words[0] += f" in {schedule.zone}, runs {runs}"
        if schedule.state == "active" and schedule.next_at:
            words[0] += f"; next at {schedule.next_at.isoformat()}"
        if schedule.pause_reason:
            words[0] += f"; paused: {schedule.pause_reason}"
        self.lines(words)

    def _print_runs(self, runs: list[dict[str, Any]]) -> None:
        self.lines([f"{each['local']}  {each['note']}".rstrip() for each in runs])


def _add_fields(parser: argparse.ArgumentParser) -> None:
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--cron", default=WITHOUT, help="'0 9 * * mon-fri' or @daily")
    kind.add_argument("--every", default=WITHOUT, help="90m")
    kind.add_argument("--calendar", type=json_value, default=WITHOUT, help='{"times": ["09:00"]}')
    kind.add_argument("--moments", nargs="+", default=WITHOUT, help="2030-01-31T12:00 ...")
    parser.add_argument("--anchor", default=WITHOUT, help="From when --every counts.")
    parser.add_argument("--data", default=WITHOUT, help="The data as JSON.")
    parser.add_argument(
        "--options", type=json_value, default=WITHOUT, help="Options of a push, JSON."
    )
    parser.add_argument("--overlap", choices=[each.value for each in Overlap], default=WITHOUT)
    for name, text in TEXTS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", default=WITHOUT, help=text)
    for name in NUMBERS:
        parser.add_argument(f"--{name.replace('_', '-')}", type=integer, default=WITHOUT)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    names = (*TEXTS, *NUMBERS, "data", "options", "overlap")
    given = {name: options[name] for name in names if name in options and name != "json"}
    if "data" in given:
        given["data"] = _data(given["data"])
    if given.get("ends_at") == NEVER:
        given["ends_at"] = None
    rule = {name: options[name] for name in RULES if name in options}
    return {**given, "rule": rule} if rule else given


def _script(text: str) -> dict[str, str]:
    mount, _, name = text.rpartition("/")
    return {"mount": mount, "name": name}


def _data(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"--data is not JSON: {error}", returncode=2) from error
