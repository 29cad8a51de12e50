"""The timeline of watched names and their backends, filtered by the address."""

import shlex
from typing import Any
from urllib.parse import quote, urlencode

from django import forms
from django.http import HttpRequest, HttpResponse

from atributo_site.console.base.forms import PeriodForm
from atributo_site.console.base.saved_views import views_of
from atributo_site.console.base.terminal import curl
from atributo_site.console.pools.views import PoolScreen
from atributo_site.core.models.clock import database_now
from atributo_site.core.models.fields import within_period
from pools.models import BackendChange

LOOKED_THROUGH = 10_000  # changes, newest first, for one kind, which no index answers
KINDS = [("", "any"), *BackendChange.Kind.choices]


class TimelineFilter(PeriodForm):
    """Empty fields do not filter; the times may be moments or ages such as 2h."""

    period_field = "at"

    pool__name = forms.CharField(required=False, max_length=100, label="Name")
    kind = forms.ChoiceField(required=False, choices=KINDS, label="What")

    def add_prefix(self, field_name: str) -> str:
        """In the address the name is `pool`."""
        return "pool" if field_name == "pool__name" else super().add_prefix(field_name)

    @property
    def name(self) -> str:
        return self.cleaned_data.get("pool__name", "")

    def looked_through(self, rows: Any) -> tuple[Any, int | None]:
        """What matches, and the oldest change that was looked at, unless all were."""
        given = self.cleaned_data
        kind, rows = given["kind"], within_period(rows, given["since"], given["until"])
        matching = self.filtered(rows)
        if not kind:
            return matching, None
        of_pool = rows.filter(pool__name=self.name) if self.name else rows
        keys = of_pool.order_by("-pk").values_list("pk", flat=True)
        floor = next(iter(keys[LOOKED_THROUGH : LOOKED_THROUGH + 1]), None)
        return matching.filter(pk__gte=floor or 0), floor


class Timeline(PoolScreen):
    url_name = "pools-timeline"
    template_name = "console/pools/timeline.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        form = TimelineFilter(request.GET, now=database_now())
        if not form.is_valid():
            return self.show(400, form=form, page=None)
        rows, floor = form.looked_through(BackendChange.objects.select_related("pool"))
        return self.show(
            form=form,
            page=self.page(rows, descending=True),
            oldest=BackendChange.objects.filter(pk=floor or 0).first(),
            filtered=any(form.cleaned_data.values()),
            **_equivalents(form),
            views=views_of(request, self.url_name),
        )


def _equivalents(form: TimelineFilter) -> dict[str, Any]:
    """The command has the changes of one name, REST also by kind."""
    given, name = form.cleaned_data, form.name or "NAME"
    asked = f"?{urlencode({'kind': given['kind']})}" if given["kind"] else ""
    is_narrow = given["kind"] or given["since"] or given["until"]
    return {
        "command": "" if is_narrow else f"manage.py pools changes {shlex.quote(name)}",
        "rest": curl(f"/api/v1/pools/{quote(name, safe='')}/changes{asked}"),
    }
