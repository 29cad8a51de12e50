"""`manage.py service`: install, upgrade, replace, uninstall, configure, list."""

import argparse
import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from atributo_site.commands import AtributoCommand
from atributo_site.core.models import Event
from queues.errors import OptionsMissing, ScriptNotFound
from queues.logic.flow.limits import parsed
from queues.management.arguments import Subcommands, json_value
from queues.models import Service
from queues.queries.presenters import script_dict, service_dict
from queues.services import bundle, installation, script_limits
from queues.worker.run_now import in_a_child

LIMITS = "As JSON, [] for none, null for those of the manifest. Without it, they are shown."


class Command(AtributoCommand):
    help = (
        "Services: list, install, upgrade, replace, uninstall, configure, limits, development, "
        "refresh."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = Subcommands(parser)
        actions.add("list", help="Installed services.")
        actions.add("folders", help="Folders in the service roots that have a manifest.")
        actions.add("refresh", help="Show the functions that are declared now.")
        for name in ("install", "upgrade", "replace"):
            change = actions.add(name, help=f"{name.capitalize()} a service from a folder.")
            change.add_argument("folder")
            change.add_argument("mount")
            change.add_argument("--configuration", default="{}", help="Options as JSON.")
            change.add_argument("--no-setup", action="store_true")
            change.add_argument("--force", action="store_true")
            if name != "install":
                whether = argparse.BooleanOptionalAction
                change.add_argument("--teardown", action=whether, default=name == "replace")
        removal = actions.add("uninstall", help="Remove a service.")
        removal.add_argument("mount")
        removal.add_argument("--no-teardown", action="store_true")
        removal.add_argument("--force", action="store_true")
        options = actions.add("configure", help="Change options of a service.")
        options.add_argument("mount")
        options.add_argument("configuration", help="Options as JSON.")
        limits = actions.add("limits", help="Show or set the limits of a script.")
        limits.add_argument("mount")
        limits.add_argument("script")
        limits.add_argument("limits", nargs="?", help=LIMITS)
        development = actions.add("development", help="Reload scripts before every run.")
        development.add_argument("mount")
        development.add_argument("state", choices=["on", "off"])

    def perform(self, **options: Any) -> None:
        with in_a_child():
            getattr(self, f"_{options['action']}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        installed = Service.objects.prefetch_related("scripts")
        if options["json"]:
            self.show([service_dict(service) for service in installed])
            return
        rows = [
            [
                s.mount,
                s.name,
                s.version,
                ", ".join(script.name for script in s.scripts.all()),
                ", ".join(s.missing_options),
            ]
            for s in installed
        ]
        self.table(["mount", "name", "version", "scripts", "missing options"], rows)

    def _folders(self, options: dict[str, Any]) -> None:
        names = bundle.available()
        if options["json"]:
            return self.show(names)
        for name in names:
            self.stdout.write(name)

    def _refresh(self, options: dict[str, Any]) -> None:
        names = installation.refresh()
        if options["json"]:
            return self.show(names)
        for name in names:
            self.stdout.write(name)

    def _install(self, options: dict[str, Any]) -> None:
        self._change(installation.install, options)

    def _upgrade(self, options: dict[str, Any]) -> None:
        self._change(installation.upgrade, options, teardown=options["teardown"])

    def _replace(self, options: dict[str, Any]) -> None:
        self._change(installation.replace, options, teardown=options["teardown"])

    def _change(self, change: Any, options: dict[str, Any], **more: bool) -> None:
        service = change(
            options["folder"],
            options["mount"],
            configuration=_json(options["configuration"]),
            setup=not options["no_setup"],
            force=options["force"],
            **more,
        )
        self._tell(service, options)
        if not options["json"]:
            self._tell_schedules(service)

    def _tell_schedules(self, service: Service) -> None:
        """Print what the install changed about schedules, as its event says."""
        events = Event.objects.filter(subject=f"service:{service.mount}").order_by("-id")
        newest = events.values_list("facts", flat=True).first() or {}
        for what, names in newest.get("schedules", {}).items():
            self.lines([f"schedules {what}: {', '.join(names)}"])
        if kept := newest.get("limits_in_conflict"):
            self.lines([f"limits set by hand stay, though the manifest changed: {', '.join(kept)}"])

    def _uninstall(self, options: dict[str, Any]) -> None:
        installation.uninstall(
            options["mount"], teardown=not options["no_teardown"], force=options["force"]
        )

    def _configure(self, options: dict[str, Any]) -> None:
        values = _json(options["configuration"])
        self._tell(installation.configure(options["mount"], values), options)

    def _limits(self, options: dict[str, Any]) -> None:
        mount, name = options["mount"], options["script"]
        if options["limits"] is not None:
            script_limits.set_limits(mount, name, json_value(options["limits"]))
        script = installation.service_at(mount).scripts.filter(name=name).first()
        if script is None:
            raise ScriptNotFound(f"there is no script {name} at {mount}", script=name)
        if options["json"]:
            return self.show(script_dict(script))
        said = [limit.said() for limit in parsed(script.limits)] or ["no limits"]
        whose = f", set by {script.limits_by}" if script.limits_by else ""
        self.lines([f"{', '.join(said)}{whose}"])

    def _development(self, options: dict[str, Any]) -> None:
        service = installation.set_development(options["mount"], options["state"] == "on")
        self._tell(service, options)

    def _tell(self, service: Service, options: dict[str, Any]) -> None:
        if options["json"]:
            self.show(service_dict(service))
        else:
            self.stdout.write(f"{service.mount} {service.name} {service.version}")
            if service.missing_options:
                self.stdout.write(str(OptionsMissing(service.mount, service.missing_options)))


def _json(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"not JSON: {error}", returncode=2) from error
    if not isinstance(value, dict):
        raise CommandError("the configuration must be a JSON object", returncode=2)
    return value
