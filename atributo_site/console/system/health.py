"""System: health, processes, settings with their sources, and the REST API's front page."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.navigation import address
from atributo_site.console.base.screen import Screen
from atributo_site.core.models.clock import database_now
from atributo_site.curator.integrity import every_rule
from atributo_site.status.doctor import Finding, examine
from atributo_site.status.redis import remember
from atributo_site.status.snapshot import snapshot
from atributo_site.status.storage import database_bytes, kept

TABS = [
    ("Health", "system"),
    ("Integrity", "system-integrity"),
    ("Processes", "system-processes"),
    ("Operations", "system-operations"),
    ("Settings", "system-settings"),
    ("Tokens", "system-tokens"),
    ("REST API", "system-api"),
]
ELSEWHERE = [("Audit", "events", "?by=people"), ("Job ids", "job-ids", "")]  # with their own heads


class SystemScreen(Screen):
    actions = {"GET": "system.view"}
    title = "System"
    url_name = ""

    def show(self, status: int = 200, **context: Any) -> HttpResponse:
        tabs = [
            {"name": name, "url": address(url_name), "current": url_name == self.url_name}
            for name, url_name in TABS
        ]
        tabs += [
            {"name": name, "url": f"{address(url_name)}{query}", "current": False}
            for name, url_name, query in ELSEWHERE
        ]
        return super().show(status, tabs=tabs, **context)


class Health(SystemScreen):
    url_name = "system"
    template_name = "console/system/health.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        findings = examine()
        _remember_redis(findings)
        counts = {
            level: sum(finding.level == level for finding in findings)
            for level in ("error", "warning", "ok")
        }
        return self.show(findings=findings, counts=counts, **_storage(findings))


def _storage(findings: list[Finding]) -> dict[str, Any]:
    """Nothing where tables may be missing."""
    wrong = {finding.name for finding in findings if finding.level == "error"}
    if wrong & {"database", "migrations"}:
        return {}
    return {"kept": kept(), "size": database_bytes(), "now": database_now()}


class Integrity(SystemScreen):
    url_name = "system-integrity"
    template_name = "console/system/integrity.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(rules=every_rule(), now=database_now())


class Processes(SystemScreen):
    url_name = "system-processes"
    template_name = "console/system/processes.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        taken = snapshot(database_now())
        remember(taken["redis"])
        return self.show(snapshot=taken)


def _remember_redis(findings: list[Finding]) -> None:
    redis = next(finding for finding in findings if finding.name == "redis")
    remember({"state": redis.level, "detail": redis.sentence})
