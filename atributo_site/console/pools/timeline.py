"""List the changes of watched names and their backends, filtered by the address."""

import shlex
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.terminal import same_list
from atributo_site.console.pools.forms import TimelineFilter
from atributo_site.console.pools.list import PAGE, PoolScreen
from atributo_site.core.models.clock import database_now
from atributo_site.core.models.fields import within_period
from atributo_site.web.pagination import page_by_key
from pools.models import BackendChange

LOOKED_THROUGH = 10_000  # no index answers for one kind: read that many of the newest changes


class Timeline(PoolScreen):
    url_name = "pools-timeline"
    template_name = "console/pools/timeline.html"
    is_shared = True

    def get(self, request: HttpRequest) -> HttpResponse:
        form = TimelineFilter(request.GET, now=database_now())
        if not form.is_valid():
            return self.show(400, form=form, page=None)
        rows, floor = matching(form)
        return self.show(
            form=form,
            page=page_by_key(rows, **self.page_keys, size=PAGE),
            oldest=BackendChange.objects.filter(pk=floor or 0).first(),
            filtered=any(form.cleaned_data.values()),
            **_equivalents(form),
            views=views_of(request, self.url_name),
        )


def matching(form: TimelineFilter) -> tuple[Any, int | None]:
    """Return the changes that match, and the key where reading stopped, or None."""
    given = form.cleaned_data
    changes = BackendChange.objects.select_related("pool")
    rows = within_period(changes, given["since"], given["until"])
    if not given["kind"]:
        return form.filtered(rows), None
    of_pool = rows.filter(pool__name=form.name) if form.name else rows
    keys = of_pool.order_by("-pk").values_list("pk", flat=True)
    floor = next(iter(keys[LOOKED_THROUGH : LOOKED_THROUGH + 1]), None)
    return form.filtered(rows).filter(pk__gte=floor or 0), floor


def _equivalents(form: TimelineFilter) -> dict[str, Any]:
    """Return command and curl for one name; only REST filters by kind."""
    given, name = form.cleaned_data, form.name or "NAME"
    is_narrow = given["kind"] or given["since"] or given["until"]
    command = "" if is_narrow else f"manage.py pools changes {shlex.quote(name)}"
    path = f"/api/v1/pools/{quote(name, safe='')}/changes"
    return same_list(path, {"kind": given["kind"]}, command)
