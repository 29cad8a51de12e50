"""Pause, resume and delete queues."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

import queues
from atributo_site.console.base.screen import Screen
from atributo_site.console.base.terminal import curl
from atributo_site.console.queues.detail import queue_or_404
from atributo_site.core.models.clock import database_now
from atributo_site.web.pagination import capped_count, said_count
from queues import catalogue

NAMED = 20


NOTHING = "Nothing was to be done: somebody was faster."


class Switch(Screen):
    """A page that names how many would change, and the deed."""

    actions = {"GET": "queue.operate", "POST": "queue.operate"}
    template_name = "console/queues/pause_all.html"
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


def back(request: HttpRequest, name: str) -> HttpResponse:
    """To the list when that is where the button was pressed."""
    return redirect("queues") if request.POST.get("next") == "queues" else redirect("queue", name)
