"""Draw a heat map of the instances, and forecast what adding or removing some would do."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from allocation.logic.forecast import Load, added, removed, spread
from allocation.models import Instance, Roster
from atributo_site.console.allocations.forms import WhatIf
from atributo_site.console.base.screen import Screen
from atributo_site.core.models.clock import database_now

MOST_CELLS = 1000
FEW = 5
HEATS = 5


class Map(Screen):
    actions = {"GET": "allocation.view"}
    template_name = "console/allocations/map.html"
    is_shared = True
    title = "Map of allocations"

    def get(self, request: HttpRequest) -> HttpResponse:
        instances = Instance.objects.with_load().order_by("id")
        columns = ("id", "load", "weight", "capacity", "available")
        rows = list(instances.values_list(*columns)[:MOST_CELLS])
        loads = [Load(*row[:4]) for row in rows]
        takers = [load for load, row in zip(loads, rows, strict=True) if row[4]]
        by_load = sorted(loads, key=lambda load: load.jobs / load.weight)
        roster = Roster.objects.first()
        return self.show(
            now=database_now(),
            cells=cells(loads, [row[4] for row in rows]),
            total=roster.instances if roster else 0,
            spread=spread(takers),
            ends=list(zip(by_load[:FEW], by_load[::-1][:FEW], strict=True)),
            **what_if(request, takers),
        )


def cells(loads: list[Load], available: list[bool]) -> list[dict[str, Any]]:
    """Return a cell per instance; its heat is its load against its capacity, or the fullest."""
    fullest = max((load.jobs / load.weight for load in loads), default=0) or 1
    return [
        {
            "id": load.instance_id,
            "jobs": int(load.jobs),
            "capacity": load.capacity,
            "heat": heat(load, fullest),
            "available": can,
        }
        for load, can in zip(loads, available, strict=True)
    ]


def heat(load: Load, fullest: float) -> int:
    share = load.jobs / load.capacity if load.capacity else load.jobs / load.weight / fullest
    return min(HEATS - 1, int(share * HEATS))


def what_if(request: HttpRequest, loads: list[Load]) -> dict[str, Any]:
    """Answer the form from these loads alone."""
    form = WhatIf(request.GET)
    if not form.is_valid() or not any(form.cleaned_data.values()):
        return {"form": form, "forecast": None}
    names = {name.strip() for name in form.cleaned_data["remove"].split(",") if name.strip()}
    unknown = sorted(names - {load.instance_id for load in loads})
    count = form.cleaned_data["add"] or 0
    forecast = removed(loads, names) if names else added(loads, count)
    return {"form": form, "forecast": forecast, "unknown": unknown[:FEW], "names": sorted(names)}
