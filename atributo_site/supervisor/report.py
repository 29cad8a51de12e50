"""What the supervisor tells the dashboard: its children, and an event for each death."""

import queue
import socket
from datetime import datetime
from typing import Any

from allocation.events import Actor, acting, record
from allocation.presence import Presence
from atributo_site.beating import presence_of
from atributo_site.supervisor.child import Child


class Report:
    """Written from a thread of its own: a busy database must not stop the watching."""

    def __init__(self, children: list[Child]) -> None:
        self.children = children
        self.presence: Presence = presence_of("supervisor", socket.gethostname())
        self._deaths: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def died(self, child: Child) -> None:
        self._deaths.put(child.facts())

    def step(self, now: datetime) -> float:
        self.presence.facts["children"] = [child.facts() for child in self.children]
        delay = self.presence.step(now)
        with acting(Actor("supervisor")):
            while not self._deaths.empty():
                facts = self._deaths.get()
                record("process.died", f"process:{facts['name']}", **facts)
        return delay
