"""Show how the site is: findings of the doctor, storage, invariants and processes."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.navigation import address
from atributo_site.console.base.screen import TabbedScreen
from atributo_site.core.models.clock import database_now
from atributo_site.curator.integrity import every_rule
from atributo_site.permissions import may
from atributo_site.status.doctor import Finding, examine
from atributo_site.status.redis import remember
from atributo_site.status.snapshot import snapshot
from atributo_site.status.storage import database_bytes, kept


class SystemScreen(TabbedScreen):
    actions = {"GET": "system.view"}
    title = "System"
    tabs = {
        "system": "Health",
        "system-integrity": "Integrity",
        "system-processes": "Processes",
        "system-operations": "Operations",
        "system-settings": "Settings",
        "system-tokens": "Tokens",
        "system-users": "Users",
        "system-api": "REST API",
    }

    def tab_list(self) -> list[dict[str, Any]]:
        """Add two screens that look different but belong here; users are for administrators."""
        here = self.url_name
        people = f"{address('events')}?by=people"
        tabs = super().tab_list()
        if not may(self.request.user, "user.administer"):
            tabs = [tab for tab in tabs if tab["name"] != "Users"]
        return [
            *tabs,
            {"name": "Audit", "url": people, "current": here == "events"},
            {"name": "Job ids", "url": address("job-ids"), "current": here == "job-ids"},
        ]


def system_tabs(request: HttpRequest, url_name: str) -> list[dict[str, Any]]:
    """Return the tabs of this section for a screen that is at home in another one."""
    screen = SystemScreen()
    screen.request = request
    screen.url_name = url_name
    return screen.tab_list()


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
    """Return what is stored; nothing while tables may be missing."""
    wrong = {finding.name for finding in findings if finding.level == "error"}
    if wrong & {"database", "migrations"}:
        return {}
    return {"kept": kept(), "size": database_bytes(), "now": database_now()}


class Integrity(SystemScreen):
    url_name = "system-integrity"
    template_name = "console/system/integrity.html"
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(rules=every_rule(), now=database_now())


class Processes(SystemScreen):
    url_name = "system-processes"
    template_name = "console/system/processes.html"
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        taken = snapshot(database_now())
        remember(taken["redis"])
        return self.show(snapshot=taken)


def _remember_redis(findings: list[Finding]) -> None:
    redis = next(finding for finding in findings if finding.name == "redis")
    remember({"state": redis.level, "detail": redis.sentence})
