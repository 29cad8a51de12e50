"""List instances and change their availability."""

import argparse
import time
from typing import Any

from allocation.errors import Outranked
from allocation.instances import availability, holds
from allocation.logic.instance_settings import WEIGHT_HELP
from allocation.models import Instance
from allocation.models.instance import STATES
from allocation.placement import drains, operations
from atributo_site.commands import AtributoCommand, decimal, integer, listed_number, with_json
from atributo_site.core.ids import valid_id
from atributo_site.core.retry import retry_busy
from atributo_site.core.text import pluralize

PAUSE_SECONDS = 0.5
SOURCES = ("manual", "worker")
SOURCE_HELP = "worker in a program: it does not undo what a person decided"


class Command(AtributoCommand):
    help = "List instances; make them available or unavailable; drain, restore or remove them."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="verb")
        listing = _verb(verbs, "list", "show instances with state, load and labels")
        listing.add_argument("--prefix", default="", help="only ids that start like this")
        listing.add_argument("--state", choices=list(STATES), help="only those in this state")
        listing.add_argument("--limit", type=listed_number, default=100)
        available = _verb(verbs, "available", "allow new keys on it", "instance_id")
        available.add_argument("--weight", type=integer, help=WEIGHT_HELP)
        available.add_argument("--capacity", type=integer)
        available.add_argument(
            "--label", action="append", type=_label, default=[], metavar="NAME=VALUE"
        )
        unavailable = _verb(verbs, "unavailable", "put no more keys on it", "instance_id")
        drain = _verb(verbs, "drain", "make it unavailable and let its keys leave", "instance_id")
        restore = _verb(verbs, "restore", "make it available again", "instance_id")
        remove = _verb(verbs, "remove", "remove it", "instance_id")
        for each in (available, unavailable, drain, restore, remove):
            each.add_argument("--reason", default="")
            each.add_argument("--source", choices=SOURCES, default="manual", help=SOURCE_HELP)
        drain.add_argument("--deadline", type=decimal, metavar="SECONDS")
        drain.add_argument(
            "--pace",
            type=integer,
            metavar="MOVES_PER_MINUTE",
            help="without it nothing is moved before the deadline",
        )
        how = drain.add_mutually_exclusive_group()
        how.add_argument("--force", action="store_true", help="move all keys now")
        how.add_argument("--stop", action="store_true", help="stop the drain that runs")
        drain.add_argument("--watch", action="store_true", help="show the progress until done")
        remove.add_argument("--drop-jobs", type=integer, metavar="N", help="how many keys it has")

    def perform(self, verb: str, **options: Any) -> None:
        getattr(self, f"_{verb}")(**options)

    def _list(self, prefix: str, state: str | None, limit: int, **options: Any) -> None:
        rows = Instance.objects.starting_with(prefix).select_related("drain").with_load()
        rows = rows.in_state(state) if state else rows
        described = [_facts(row) for row in rows.order_by("id")[:limit]]
        if options["json"]:
            return self.show(described)
        columns = ["id", "state", "load", "capacity", "weight", "source", "labels", "reason"]
        self.table(columns, [[_cell(facts[name]) for name in columns] for facts in described])

    def _available(
        self, instance_id: str, reason: str, label: list[tuple[str, str]], **options: Any
    ) -> None:
        who = {"reason": reason, "source": options["source"]}
        settings: dict[str, Any] = {
            name: options[name] for name in ("weight", "capacity") if options[name] is not None
        }
        if label:
            settings["labels"] = dict(label)
        valid_id(instance_id)
        retry_busy(lambda: availability.make_available(instance_id, **who, **settings))
        self._say(instance_id, **options)

    def _unavailable(self, instance_id: str, reason: str, **options: Any) -> None:
        valid_id(instance_id)
        who = {"reason": reason, "source": options["source"]}
        retry_busy(lambda: availability.make_unavailable(instance_id, **who))
        self._say(instance_id, **options)

    def _restore(self, instance_id: str, reason: str, **options: Any) -> None:
        who = {"reason": reason, "source": options["source"]}
        retry_busy(lambda: availability.restore(valid_id(instance_id), **who))
        self._say(instance_id, **options)

    def _remove(self, instance_id: str, drop_jobs: int | None, reason: str, **options: Any) -> None:
        dropped = operations.remove_instance(
            instance_id, drop_jobs=drop_jobs, reason=reason, source=options["source"]
        )
        if options["json"]:
            return self.show({"id": instance_id, "removed": True, "jobs_dropped": dropped})
        job_ids = pluralize(dropped, "key was", "keys were")
        self.stdout.write(f"{instance_id} is removed; {job_ids} dropped.")

    def _drain(self, instance_id: str, **options: Any) -> None:
        if options["stop"]:
            drains.stop(instance_id, source=options["source"])
            return self._say(instance_id, **options)
        settings = [options["reason"] or None, options["deadline"], options["pace"]]
        keeps_settings = (options["force"] or options["watch"]) and settings == [None] * 3
        if not (keeps_settings and drains.is_running(instance_id)):
            self._begin(instance_id, **options)
        if options["force"]:
            retry_busy(lambda: drains.force(instance_id, source=options["source"]))
        if options["watch"]:
            self._watch(instance_id)
        self._say(instance_id, **options)

    def _begin(self, instance_id: str, **options: Any) -> None:
        is_begun = retry_busy(
            lambda: drains.drain(
                instance_id,
                reason=options["reason"],
                deadline_seconds=options["deadline"],
                moves_per_minute=options["pace"],
                source=options["source"],
            )
        )
        if not is_begun:
            raise Outranked(f"a person made {instance_id} available, so this has no effect")

    def _watch(self, instance_id: str) -> None:
        """Print a line for every change, until nothing is left or the drain is stopped."""
        seen = None
        while Instance.objects.draining().filter(pk=instance_id).exists():
            now, left = drains.progress(instance_id), holds.left_on(instance_id)
            if (now, left) != seen:
                self.stderr.write(
                    f"{instance_id}: {now.fraction:.0%} done, {now.moved} moved; "
                    f"left: {left.sentence}"
                )
            seen = now, left
            time.sleep(PAUSE_SECONDS)

    def _say(self, instance_id: str, **options: Any) -> None:
        row = Instance.objects.select_related("drain").with_load().get(pk=instance_id)
        if options["json"]:
            return self.show(_facts(row))
        advice = "" if row.available else f" {holds.may_remove(instance_id).sentence}"
        jobs = pluralize(row.load, "key")
        self.stdout.write(f"{instance_id} is {row.state} with {jobs}.{advice}")


def _verb(verbs: Any, name: str, text: str, *arguments: str) -> Any:
    parser = with_json(verbs.add_parser(name, help=text))
    for argument in arguments:
        parser.add_argument(argument)
    return parser


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"write NAME=VALUE, not {text!r}")
    return name, value


def _facts(row: Any) -> dict[str, Any]:
    names = ["id", "state", "available", "load", "capacity", "weight", "source", "labels"]
    return {name: getattr(row, name) for name in [*names, "reason", "epoch", "changed_at"]}


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={each}" for name, each in value.items())
    return "–" if value is None else str(value)
