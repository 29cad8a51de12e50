"""Services, their configuration and their scripts; a service is known by its mount."""

import builtins
import uuid
from typing import Any, Unpack

from atributo_client.failures import NotYet
from atributo_client.generated import answers, bodies, queries
from atributo_client.generated.errors import ScriptFailed
from atributo_client.operation import Group, S, operation
from atributo_client.steps import KEY, Flow, Pause, answered, ask, part


class Services(Group[S]):
    @operation("services_list")
    def list(self, mount: str | None = None) -> Flow[builtins.list[answers.Service]]:
        return ask("GET", "services", params={"mount": mount})

    @operation("services_install")
    def install(
        self, mount: str, folder: str, **options: Unpack[bodies.InstallOptions]
    ) -> Flow[answers.Service]:
        return ask("POST", "services", {"mount": mount, "folder": folder, **options})

    @operation("services_replace")
    def replace(
        self, mount: str, folder: str, **options: Unpack[bodies.ChangeOptions]
    ) -> Flow[answers.Service]:
        return ask("PUT", "services", {"folder": folder, **options}, params={"mount": mount})

    @operation("services_upgrade")
    def upgrade(
        self, mount: str, folder: str, **options: Unpack[bodies.ChangeOptions]
    ) -> Flow[answers.Service]:
        return ask("PATCH", "services", {"folder": folder, **options}, params={"mount": mount})

    @operation("services_uninstall")
    def uninstall(
        self, mount: str, **options: Unpack[queries.ServicesUninstallQuery]
    ) -> Flow[None]:
        return ask("DELETE", "services", params={"mount": mount, **options})

    @operation("configuration_get")
    def configuration(self, mount: str) -> Flow[answers.Values]:
        return ask("GET", "services/configuration", params={"mount": mount})

    @operation("configuration_replace")
    def replace_configuration(self, mount: str, values: dict[str, Any]) -> Flow[answers.Values]:
        return ask("PUT", "services/configuration", values, params={"mount": mount})

    @operation("configuration_change")
    def change_configuration(self, mount: str, values: dict[str, Any]) -> Flow[answers.Values]:
        return ask("PATCH", "services/configuration", values, params={"mount": mount})

    @operation("development_on")
    def development_on(self, mount: str) -> Flow[answers.Service]:
        return ask("POST", "services/development", params={"mount": mount})

    @operation("development_off")
    def development_off(self, mount: str) -> Flow[None]:
        return ask("DELETE", "services/development", params={"mount": mount})


class Scripts(Group[S]):
    @operation("scripts_list")
    def list(self, mount: str) -> Flow[dict[str, Any]]:
        return ask("GET", "services/scripts", params={"mount": mount})

    @operation("scripts_get")
    def get(self, mount: str, name: str) -> Flow[answers.Script]:
        return ask("GET", f"services/scripts/{part(name)}", params={"mount": mount})

    @operation("scripts_change")
    def set_limits(
        self, mount: str, name: str, limits: builtins.list[dict[str, Any]] | None
    ) -> Flow[answers.Script]:
        """Set its limits; [] ends them, None goes back to those of its manifest."""
        path = f"services/scripts/{part(name)}"
        return ask("PATCH", path, {"limits": limits}, params={"mount": mount})

    @operation("scripts_run", "script_runs_get")
    def run(
        self,
        mount: str,
        name: str,
        data: Any = None,
        *,
        dry_run: bool | None = None,
        timeout_seconds: float = 60.0,
    ) -> Flow[Any]:
        """Run a script now, at a worker, and return its result, however long it takes."""
        path, params = f"services/scripts/{part(name)}", {"mount": mount, "dry_run": dry_run}
        headers = {KEY: uuid.uuid4().hex}
        answer = yield from answered("POST", path, data, params, headers)
        if answer.status != 202:
            return answer.json()
        return (yield from _result(answer.json(), timeout_seconds))


def _result(run: answers.ScriptRun, timeout_seconds: float) -> Flow[Any]:
    for _ in range(max(1, round(timeout_seconds))):
        if run["state"] == "failed":
            raise ScriptFailed(run["error"], status=run["status_code"] or 0, run=run)
        if run["state"] == "complete":
            return run["result"]
        yield Pause(1.0)
        run = yield from ask("GET", f"services/runs/{part(run['id'])}")
    raise NotYet(f"script run {run['id']} is {run['state']} after {timeout_seconds:g} s", run=run)
