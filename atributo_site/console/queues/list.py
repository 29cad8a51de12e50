"""Queues: what runs, what waits and since when; make, pause, resume, delete one.

Pause every queue at once, and let all run again; how many jobs each runs is not touched.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

import queues
from atributo_site.console.base.forms import said
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.core.models.clock import database_now
from atributo_site.permissions import may
from atributo_site.web.pagination import capped_count, said_count
from queues import catalogue
from queues.errors import QueueNotFound
from queues.logic.absence import WhenAway
from queues.models import Queue
from queues.models.queue import MOST_WORKERS
from queues.queries.backlog import with_depth
from queues.queries.snapshot import queue_lines

NAMED = 20
NOTHING = "Nothing was to be done: somebody was faster."


class Switch(Screen):
    """A page that names how many would change, and the deed."""

    actions = {"GET": "queue.operate", "POST": "queue.operate"}
    template_name = "console/queues/switch.html"
    verb = ""
    lead = ""
    done = ""
    rows: Callable[[], Any]
    act: Callable[[], list[str]]

    def get(self, request: HttpRequest) -> HttpResponse:
        count = capped_count(self.rows())
        if not count:
            messages.warning(request, NOTHING)
            return redirect("queues")
        self.title = f"{self.verb} {queues_said(count)}"
        return self.show(
            verb=self.verb,
            lead=self.lead,
            rows=self.rows()[:NAMED],
            more=count - NAMED,
            now=database_now(),
            command=f"manage.py queue {self.verb.lower()} --all",
            rest=curl(f"/api/v1/queues/{self.verb.lower()}", "POST"),
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        changed = len(self.act())
        if changed:
            are = "is" if changed == 1 else "are"
            messages.success(request, f"{queues_said(changed)} {are} {self.done}.")
        else:
            messages.warning(request, NOTHING)
        return redirect("queues")


class PauseAll(Switch):
    verb = "Pause"
    lead = "What runs finishes, nothing new starts. Jobs can still be pushed, and wait."
    done = "paused: what runs finishes, nothing new starts"
    rows = staticmethod(catalogue.running)
    act = staticmethod(catalogue.pause_all)


class ResumeAll(Switch):
    """Those too that were paused one by one before."""

    verb = "Resume"
    lead = "What waits starts at once, also where somebody paused one queue on purpose."
    done = "running again"
    rows = staticmethod(catalogue.paused)
    act = staticmethod(catalogue.resume_all)


def queues_said(count: int) -> str:
    return f"{said_count(count)} {'queue' if count == 1 else 'queues'}"


PAGE = 50
START_SAID = {
    True: "Each start is recorded before the job begins.",
    False: "The starts of short jobs are recorded with their ends.",
}
AWAY_SAID: dict[str, str] = {
    WhenAway.WAIT: "wait for their instance as long as it takes",
    WhenAway.MOVE: "move to another instance when theirs is away for {} s",
    WhenAway.FAIL: "fail when their instance is away for {} s",
}


class NewQueue(forms.Form):
    name = forms.CharField(max_length=255)
    max_workers = forms.IntegerField(label="Jobs at once", min_value=1, max_value=MOST_WORKERS)

    def clean_name(self) -> str:
        """Whoever makes one does not mean to scale another."""
        name = self.cleaned_data["name"]
        if Queue.objects.existing().filter(name=name).exists():
            raise forms.ValidationError(f"there is a queue {name} already.")
        return name


class Queues(Screen):
    actions = {"GET": "queue.view", "POST": "queue.administer"}
    template_name = "console/queues/list.html"
    title = "Queues"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._shown()

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewQueue(request.POST)
        if not form.is_valid():
            return self._shown(400, form)
        queues.create(form.cleaned_data["name"], form.cleaned_data["max_workers"])
        messages.success(request, f"The queue {form.cleaned_data['name']} is made.")
        return redirect("queue", form.cleaned_data["name"])

    def _shown(self, status: int = 200, form: NewQueue | None = None) -> HttpResponse:
        now = database_now()
        after = self.request.GET.get("after", "")
        rows = list(Queue.objects.existing().filter(name__gt=after).order_by("name")[: PAGE + 1])
        shown = lines([row.pk for row in rows[:PAGE]], now)
        return self.show(
            status,
            now=now,
            queues=shown,
            after=rows[PAGE - 1].name if len(rows) > PAGE else None,
            before=bool(after),
            form=form or NewQueue(initial={"max_workers": 1}),
            wrong=said(form) if form else "",
            can_pause=catalogue.running().exists(),
            can_resume=catalogue.paused().exists(),
            rights=rights(self.request),
        )


class Pause(Screen):
    actions = {"POST": "queue.operate"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        queue_or_404(name)
        if queues.pause(name):
            messages.success(request, f"{name} is paused: what runs finishes, nothing new starts.")
        else:
            messages.warning(request, f"{name} was paused already.")
        return back(request, name)


class Resume(Screen):
    actions = {"POST": "queue.operate"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        queue_or_404(name)
        if queues.resume(name):
            messages.success(request, f"{name} runs again.")
        else:
            messages.warning(request, f"{name} was not paused.")
        return back(request, name)


class Delete(Screen):
    actions = {"GET": "queue.administer", "POST": "queue.administer"}
    template_name = "console/queues/delete.html"
    gone_to = "queues"
    title = "Delete"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        return self.show(queue=queue_or_404(name))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        queues.delete(queue_or_404(name).name)
        messages.success(request, f"{name} is deleted; its jobs wait until it is made again.")
        return redirect("queues")


def queue_or_404(name: str) -> Queue:
    queue = Queue.objects.existing().filter(name=name).first()
    if queue is None:
        raise QueueNotFound(f"There is no queue {name}.", queue=name)
    return queue


def back(request: HttpRequest, name: str) -> HttpResponse:
    """To the list when that is where the button was pressed."""
    return redirect("queues") if request.POST.get("next") == "queues" else redirect("queue", name)


def rights(request: HttpRequest) -> dict[str, bool]:
    return {
        "operate": may(request.user, "queue.operate"),
        "administer": may(request.user, "queue.administer"),
    }


def lines(ids: list[int], now: datetime) -> list[dict[str, Any]]:
    """One line for each of these queues, in five queries."""
    return queue_lines(list(with_depth(Queue.objects.filter(pk__in=ids)).order_by("name")), now)
