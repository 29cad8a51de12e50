"""Pause, resume and delete one queue; pause or resume all of them."""

from collections.abc import Callable
from shlex import quote as shell_quote
from typing import Any
from urllib.parse import quote

from django.shortcuts import resolve_url

import queues
from atributo_site.console.base.actions import Action, Confirmation, NothingChanged
from atributo_site.console.base.terminal import curl
from atributo_site.console.queues.detail import queue_or_404
from atributo_site.core.models.clock import database_now
from atributo_site.web.pagination import capped_count, format_count
from queues import catalogue
from queues.models import Queue

NAMED = 20
NOTHING = "Nothing to do. Somebody else already did it."


class QueueAction(Action):
    actions = {"POST": "queue.operate"}
    queue: Queue

    def load(self, name: str) -> None:
        self.queue = queue_or_404(name)

    def back(self) -> str:
        """Lead to the list when the button was pressed there."""
        in_list = self.request.POST.get("next") == "queues"
        return (
            resolve_url("atributo:queues")
            if in_list
            else resolve_url("atributo:queue", self.queue.name)
        )


class Pause(QueueAction):
    def act(self) -> str:
        name = self.queue.name
        if not queues.pause(name):
            raise NothingChanged(f"{name} was already paused.")
        return f"{name} is paused. Running jobs finish; no new jobs start."


class Resume(QueueAction):
    def act(self) -> str:
        name = self.queue.name
        if not queues.resume(name):
            raise NothingChanged(f"{name} was not paused.")
        return f"{name} is resumed."


class Delete(Confirmation, QueueAction):
    actions = {"GET": "queue.administer", "POST": "queue.administer"}
    gone_to = "atributo:queues"
    title = "Delete"

    def question(self) -> dict[str, Any]:
        name = self.queue.name
        return {
            "crumbs": [
                ("Queues", resolve_url("atributo:queues")),
                (name, resolve_url("atributo:queue", name)),
            ],
            "heading": f"Delete the queue {name}",
            "lead": "No more of its jobs start. They wait until a queue with this name"
            " is created again.",
            "button": "Delete queue",
            "leave": "Cancel",
            "is_danger": True,
            "command": f"manage.py queue delete {shell_quote(name)}",
            "rest": curl(f"/api/v1/queues/{quote(name, safe='')}", "DELETE"),
        }

    def act(self) -> str:
        queues.delete(self.queue.name)
        return f"{self.queue.name} is deleted. Its jobs wait until the queue is created again."

    def after(self) -> str:
        return resolve_url("atributo:queues")


class ChangeAll(Confirmation):
    """Ask on a page that names the queues that would change, then change them."""

    actions = {"GET": "queue.operate", "POST": "queue.operate"}
    template_name = "console/queues/pause_all.html"
    gone_to = "atributo:queues"
    verb = ""
    lead = ""
    done = ""
    rows: Callable[[], Any]
    change_all: Callable[[], list[str]]

    def question(self) -> dict[str, Any]:
        count = capped_count(self.rows())
        if not count:
            raise NothingChanged(NOTHING)
        heading, rows = f"{self.verb} {_queues(count)}", list(self.rows()[:NAMED])
        return {
            "crumbs": [("Queues", self.back())],
            "heading": heading,
            "lead": self.lead,
            "button": heading,
            "leave": "Cancel" if len(rows) == 1 else "Cancel",
            "verb": self.verb,
            "rows": rows,
            "more": count - NAMED,
            "now": database_now(),
            "command": f"manage.py queue {self.verb.lower()} --all",
            "rest": curl(f"/api/v1/queues/{self.verb.lower()}", "POST"),
        }

    def act(self) -> str:
        count = len(self.change_all())
        if not count:
            raise NothingChanged(NOTHING)
        return f"{_queues(count)} {'is' if count == 1 else 'are'} {self.done}."

    def back(self) -> str:
        return resolve_url("atributo:queues")


class PauseAll(ChangeAll):
    verb = "Pause"
    lead = "Running jobs finish; no new jobs start. New jobs can still be pushed and will wait."
    done = "paused. Running jobs finish; no new jobs start"
    rows = staticmethod(catalogue.running)
    change_all = staticmethod(catalogue.pause_all)


class ResumeAll(ChangeAll):
    """Resume every queue, also those that people paused one by one before."""

    verb = "Resume"
    lead = "Waiting jobs start right away, even in queues that somebody paused on purpose."
    done = "running again"
    rows = staticmethod(catalogue.paused)
    change_all = staticmethod(catalogue.resume_all)


def _queues(count: int) -> str:
    return f"{format_count(count)} {'queue' if count == 1 else 'queues'}"
