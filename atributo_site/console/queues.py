"""Queues: what runs, what waits and since when; make, pause, resume, delete one."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

import queues
from allocation.models.clock import database_now
from atributo_site.console.form_errors import said
from atributo_site.console.screen import Screen
from atributo_site.permissions import may
from queues import every_queue
from queues.depth import with_depth
from queues.errors import QueueNotFound
from queues.logic.away import WhenAway
from queues.models import Queue
from queues.models.queue import MOST_WORKERS
from queues.snapshot import queue_lines

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
    template_name = "console/queues.html"
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
            can_pause=every_queue.running().exists(),
            can_resume=every_queue.paused().exists(),
            rights=rights(self.request),
        )


class Pause(Screen):
    actions = {"POST": "queue.operate"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        found(name)
        if queues.pause(name):
            messages.success(request, f"{name} is paused: what runs finishes, nothing new starts.")
        else:
            messages.warning(request, f"{name} was paused already.")
        return back(request, name)


class Resume(Screen):
    actions = {"POST": "queue.operate"}

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        found(name)
        if queues.resume(name):
            messages.success(request, f"{name} runs again.")
        else:
            messages.warning(request, f"{name} was not paused.")
        return back(request, name)


class Delete(Screen):
    actions = {"GET": "queue.administer", "POST": "queue.administer"}
    template_name = "console/queue_delete.html"
    gone_to = "queues"
    title = "Delete"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        return self.show(queue=found(name))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        queues.delete(found(name).name)
        messages.success(request, f"{name} is deleted; its jobs wait until it is made again.")
        return redirect("queues")


def found(name: str) -> Queue:
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
