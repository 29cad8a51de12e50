"""Pause every queue at once, and let all run again; how many jobs each runs is not touched."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

import queues
from atributo_site.console.screen import Screen
from queues.models import Queue


class PauseAll(Screen):
    actions = {"POST": "queue.operate"}

    def post(self, request: HttpRequest) -> HttpResponse:
        done = [name for name in _names(paused=False) if queues.pause(name)]
        _tell(request, done, "paused: what runs finishes, nothing new starts")
        return redirect("queues")


class ResumeAll(Screen):
    """Those too that were paused one by one before."""

    actions = {"POST": "queue.operate"}

    def post(self, request: HttpRequest) -> HttpResponse:
        done = [name for name in _names(paused=True) if queues.resume(name)]
        _tell(request, done, "running again")
        return redirect("queues")


def _names(*, paused: bool) -> list[str]:
    rows = Queue.objects.existing().filter(paused_at__isnull=not paused)
    return list(rows.order_by("name").values_list("name", flat=True))


def _tell(request: HttpRequest, done: list[str], what: str) -> None:
    if not done:
        messages.warning(request, "Nothing was to be done: somebody was faster.")
        return
    are = "queue is" if len(done) == 1 else "queues are"
    messages.success(request, f"{len(done):,} {are} {what}.")
