"""Pause every queue at once, and let all run again; how many jobs each runs is not touched."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from allocation.models.clock import database_now
from atributo_site.console.screen import Screen
from atributo_site.console.terminal import curl
from atributo_site.keyset import capped_count, said_count
from queues import every_queue

NAMED = 20
NOTHING = "Nothing was to be done: somebody was faster."


class Switch(Screen):
    """A page that names how many would change, and the deed."""

    actions = {"GET": "queue.operate", "POST": "queue.operate"}
    template_name = "console/queues_switch.html"
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
    rows = staticmethod(every_queue.running)
    act = staticmethod(every_queue.pause_all)


class ResumeAll(Switch):
    """Those too that were paused one by one before."""

    verb = "Resume"
    lead = "What waits starts at once, also where somebody paused one queue on purpose."
    done = "running again"
    rows = staticmethod(every_queue.paused)
    act = staticmethod(every_queue.resume_all)


def queues_said(count: int) -> str:
    return f"{said_count(count)} {'queue' if count == 1 else 'queues'}"
