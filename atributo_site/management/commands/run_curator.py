"""Run the curator, which repairs what a crash left behind; one of any number is active."""

from typing import Any

from django.core.management.base import CommandError

from atributo_site.commands import AtributoCommand
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import Actor, acting
from atributo_site.core.loops import Loop, Repair, Step
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from atributo_site.core.presence import host_and_pid, presence_of
from atributo_site.curator.leadership import ROLE, Leadership
from atributo_site.curator.repairs import all_repairs
from atributo_site.incidents.repairs import REPAIRS as OF_INCIDENTS
from pools.reporting.process_report import Report


class AnotherIsActive(AtributoError):
    status_code = 409
    code = "another_is_active"


class Command(AtributoCommand):
    help = "Run the curator; any number may run, one is active."
    needs_migrations = True

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--name", default=host_and_pid(), help="Name shown on the dashboard.")
        parser.add_argument("--once", action="store_true", help="One sweep, then stop.")
        parser.add_argument("--only", help="Run only the repair of this name.")
        parser.add_argument("--status", action="store_true", help="Show who is active and stop.")

    def check_options(self, **options: Any) -> None:
        _chosen(options["only"])

    def perform(
        self, *, name: str, once: bool, only: str | None, status: bool, **options: Any
    ) -> None:
        if status:
            return self._show_status(options["json"])
        curator = Leadership(name, _chosen(only))
        if once:
            return self._sweep_once(curator, options["json"])
        self._run(curator)

    def _run(self, curator: Leadership) -> None:
        presence = presence_of("curator", curator.name)
        presence.facts["repaired"] = curator.repaired
        report = Report(f"curator/{curator.name}")
        beats = [Step("presence", presence.step), Step("pools", report.step)]
        loop = Loop([*beats, *curator.steps()])
        with acting(Actor(curator.name)):
            try:
                loop.run_until_signalled()
            finally:
                curator.resign()
                report.leave()
                presence.leave()

    def _sweep_once(self, curator: Leadership, as_json: bool) -> None:
        curator.heartbeat(database_now())
        if curator.lease is None:
            raise AnotherIsActive("another curator is active; --status shows which.")
        try:
            counts = {r.name: curator.sweep(database_now(), r) for r in curator.repairs}
        finally:
            curator.resign()
        if as_json:
            return self.show(counts)
        self.table(["repair", "mended"], [[name, count] for name, count in counts.items()])

    def _show_status(self, as_json: bool) -> None:
        active = Lease.objects.held().filter(role=ROLE).first()
        names = Lease.objects.held().filter(role__startswith=f"{ROLE}/")
        facts = {
            "active": active and active.facts.get("name"),
            "epoch": active and active.token,
            "since": active and active.acquired_at,
            "heartbeat": active and active.renewed_at,
            "running": [lease.role.removeprefix(f"{ROLE}/") for lease in names],
        }
        if as_json:
            return self.show(facts)
        self.table(["", ""], [[key, value if value else "–"] for key, value in facts.items()])


def _chosen(only: str | None) -> list[Repair]:
    repairs = [*all_repairs(), *OF_INCIDENTS]
    if only is None:
        return repairs
    chosen = [repair for repair in repairs if repair.name == only]
    if not chosen:
        known = ", ".join(f"'{repair.name}'" for repair in repairs)
        raise CommandError(f"no repair is called '{only}'; there are {known}.", returncode=2)
    return chosen
