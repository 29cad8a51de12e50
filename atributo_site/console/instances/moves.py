"""Show where the keys of an instance went: a count for each destination, and each key."""

from django.http import HttpRequest, HttpResponse

from allocation.placement.departures import departures, destinations
from atributo_site.console.base.forms import PeriodForm
from atributo_site.console.base.screen import Screen
from atributo_site.console.instances.detail import instance_or_404
from atributo_site.core.models.clock import database_now
from atributo_site.web.pagination import page_by_key

PAGE = 50


class Moves(Screen):
    """List what left the instance, in a time if the address names one."""

    actions = {"GET": "instance.view"}
    template_name = "console/instances/moves.html"
    is_shared = True

    def get(self, request: HttpRequest, instance_id: str) -> HttpResponse:
        row, now = instance_or_404(instance_id), database_now()
        form = PeriodForm(request.GET, now=now)
        self.title = f"Where keys of {row.pk} went"
        if not form.is_valid():
            return self.show(400, row=row, form=form, now=now)
        period = form.cleaned_data
        return self.show(
            row=row,
            form=form,
            filtered=any(period.values()),
            destinations=destinations(row.pk, **period),
            page=page_by_key(departures(row.pk, **period), **self.page_keys, size=PAGE),
            now=now,
        )
