"""Queues: what runs, what waits, and the handles to steer them."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

import queues
from allocation.models import Lease
from allocation.models.clock import database_now
from atributo_site.console.screen import Screen
from atributo_site.console.sparks import polyline
from queues import catalogue
from queues.errors import BadQueue
from queues.gauges import gauges
from queues.logic.lifecycle import Status
from queues.models import MinuteCount, QueuedJob, Slot

SPARK_MINUTES = 30


class Queues(Screen):
    actions = {"GET": "queue.view", "POST": "queue.administer"}
    template_name = "console/queues.html"
    title = "Queues"

    def get(self, request: HttpRequest) -> HttpResponse:
        now = database_now()
        shown = gauges(now)
        sparks = _sparks(now)
        for gauge in shown:
            gauge["spark"] = polyline(sparks.get(gauge["name"], {}), now, SPARK_MINUTES)
        workers = Lease.objects.held().filter(role__startswith="worker/").count()
        return self.show(queues=shown, workers=workers, now=now)

    def post(self, request: HttpRequest) -> HttpResponse:
        name = request.POST.get("name", "")
        queues.create(name, _number(request.POST.get("max_workers", "")))
        messages.success(request, f"The queue {name} is there.")
        return redirect("queues")


class Queue(Screen):
    actions = {"GET": "queue.view"}
    template_name = "console/queue.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        now = database_now()
        row = catalogue.row(name)
        gauge = next(each for each in gauges(now) if each["name"] == name)
        gauge["spark"] = polyline(_sparks(now).get(name, {}), now, SPARK_MINUTES)
        running = QueuedJob.objects.filter(queue=row, status=Status.PROGRESS).order_by("id")[:50]
        slots = Slot.objects.filter(queue=row).exclude(holder="").order_by("number")[:100]
        minutes = MinuteCount.objects.filter(queue=row).order_by("-minute")[:10]
        return self.show(
            title=name, queue=row, gauge=gauge, jobs=running, slots=slots, minutes=minutes, now=now
        )


class QueueAction(Screen):
    """One button: what it does to the queue, and what it says."""

    said = ""

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        catalogue.row(name)
        self.act(name)
        messages.success(request, self.said.format(name=name))
        return redirect("queues") if self.said.endswith("wait.") else redirect("queue", name)

    def act(self, name: str) -> None:
        raise NotImplementedError


class Pause(QueueAction):
    actions = {"POST": "queue.operate"}
    said = "The queue {name} is paused; what runs may finish."

    def act(self, name: str) -> None:
        queues.pause(name)


class Resume(QueueAction):
    actions = {"POST": "queue.operate"}
    said = "The queue {name} goes on."

    def act(self, name: str) -> None:
        queues.resume(name)


class Scale(QueueAction):
    actions = {"POST": "queue.administer"}
    said = "The queue {name} is changed."

    def act(self, name: str) -> None:
        queues.create(name, _number(self.request.POST.get("max_workers", "")))


class Delete(QueueAction):
    actions = {"POST": "queue.administer"}
    said = "The queue {name} is deleted; its jobs wait."

    def act(self, name: str) -> None:
        queues.delete(name)


def _number(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise BadQueue("max_workers must be a whole number")
    return int(text)


def _sparks(now: Any) -> dict[str, dict[Any, int]]:
    """Queue → minute → jobs that ended in it."""
    since = now.replace(second=0, microsecond=0) - timedelta(minutes=SPARK_MINUTES)
    rows = MinuteCount.objects.filter(minute__gte=since).select_related("queue")
    found: dict[str, dict[Any, int]] = {}
    for row in rows:
        found.setdefault(row.queue.name, {})[row.minute] = row.complete + row.failed
    return found
