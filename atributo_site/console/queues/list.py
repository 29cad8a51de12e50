"""List the queues with what runs and waits in each, and make a new one."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

import queues
from atributo_site.console.base.forms import form_errors
from atributo_site.console.base.screen import Screen
from atributo_site.console.queues.detail import lines, rights
from atributo_site.console.queues.forms import NewQueue
from atributo_site.core.models.clock import database_now
from queues import catalogue
from queues.models import Queue

PAGE = 50


class Queues(Screen):
    actions = {"GET": "queue.view", "POST": "queue.administer"}
    template_name = "console/queues/list.html"
    is_shared = True
    title = "Queues"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._render()

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewQueue(request.POST)
        if not form.is_valid():
            return self._render(400, form)
        queues.create(form.cleaned_data["name"], form.cleaned_data["max_workers"])
        messages.success(request, f"The queue {form.cleaned_data['name']} is created.")
        return redirect("atributo:queue", form.cleaned_data["name"])

    def _render(self, status: int = 200, form: NewQueue | None = None) -> HttpResponse:
        now = database_now()
        after = self.request.GET.get("after", "")
        rows = list(Queue.objects.existing().filter(name__gt=after).order_by("name")[: PAGE + 1])
        return self.show(
            status,
            now=now,
            queues=lines([row.pk for row in rows[:PAGE]], now),
            after=rows[PAGE - 1].name if len(rows) > PAGE else None,
            before=bool(after),
            form=form or NewQueue(initial={"max_workers": 1}),
            wrong=form_errors(form) if form else "",
            can_pause=catalogue.running().exists(),
            can_resume=catalogue.paused().exists(),
            rights=rights(self.request),
        )
