"""Show what needs attention, the charts and everything that runs."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from atributo_site.config.places import TEMPLATES
from atributo_site.console.base.charts import charts
from atributo_site.console.base.screen import Screen
from atributo_site.console.events.folding import recent_events
from atributo_site.console.instances.detail import with_percent
from atributo_site.core.models.clock import database_now
from atributo_site.incidents.cures import button_of
from atributo_site.incidents.listing import merged
from atributo_site.models import Incident
from atributo_site.status.redis import remember
from atributo_site.status.snapshot import snapshot

SECTIONS = TEMPLATES / "console" / "sections"
ORDER = ("queues", "allocation", "pools", "transactions")
MOST_INSTANCES = 8
MOST_EVENTS = 6
MOST_ATTENTION = 20


class Overview(Screen):
    actions = {"GET": "overview.view"}
    template_name = "console/overview.html"
    is_shared = True
    title = "Overview"

    def get(self, request: HttpRequest) -> HttpResponse:
        taken = snapshot(database_now())
        remember(taken["redis"])
        needed = merged(taken["attention"])
        return self.show(
            snapshot=taken,
            processes=[each for each in taken["processes"] if each["state"] != "stopped"],
            attention=[_with_button(item, request.user) for item in needed[:MOST_ATTENTION]],
            attention_total=len(needed),
            sections=sections(taken),
            charts=charts(request.GET.get("range", ""), taken["now"]),
            events=recent_events(MOST_EVENTS),
            instances=[
                with_percent(row) for row in taken["allocation"]["instances"][:MOST_INSTANCES]
            ],
        )


def _with_button(item: dict[str, Any], user: Any) -> dict[str, Any]:
    unstored = Incident(kind=item["kind"], subject=item["subject"], cure=item["cure"])
    return {**item, "button": button_of(item["incident"] or unstored, user)}


def sections(taken: dict[str, Any]) -> list[str]:
    """Return the templates of the rooms in the snapshot, those that run something first."""
    rooms = sorted(path.stem for path in SECTIONS.glob("*.html"))
    rooms.sort(key=lambda room: ORDER.index(room) if room in ORDER else len(ORDER))
    return [f"console/sections/{room}.html" for room in rooms if room in taken]
