"""Start the children, watch them, stop them in order, and report them to the dashboard."""

import math
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from atributo_site.core.events import Actor, acting, record
from atributo_site.core.presence import Presence, presence_of
from atributo_site.supervisor.child import Child
from atributo_site.supervisor.watchdog import Watchdog

LOOK_SECONDS = 0.25
MOST_DEATHS = 1000  # that wait for the database to be recorded
STOP_SECONDS = 8.0  # then the rest is killed, so that all is over within ten


class Report:
    """Write from a thread of its own: a busy database must not stop the watching."""

    def __init__(self, children: list[Child]) -> None:
        self.children = children
        self.presence: Presence = presence_of("supervisor", socket.gethostname())
        self._deaths: deque[dict[str, Any]] = deque(maxlen=MOST_DEATHS)

    def died(self, child: Child) -> None:
        self._deaths.append(child.facts())

    def step(self, now: datetime) -> float:
        self.presence.facts["children"] = [child.facts() for child in self.children]
        delay = self.presence.step(now)
        with acting(Actor("supervisor")):
            while self._deaths:
                facts = self._deaths[0]
                record("process.died", f"process:{facts['name']}", **facts)
                self._deaths.popleft()  # only now: while the database is away it is kept
        return delay


class Supervisor:
    """Stop children group by group: a group has ended before the next one is told."""

    def __init__(
        self,
        groups: Iterable[list[Child]],
        died: Callable[[Child], None],
        watchdogs: Iterable[Watchdog] = (),
    ) -> None:
        self.groups = [list(group) for group in groups]
        self._died = died
        self._watchdogs = list(watchdogs)
        self._stop = threading.Event()

    @property
    def children(self) -> list[Child]:
        return [child for group in self.groups for child in group]

    def start(self) -> None:
        for child in self.children:
            if child.pid is None:
                child.start(time.monotonic())

    def listen_for_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: self._stop.set())

    def run(self) -> None:
        self.watch_until(lambda: False)

    def watch_until(self, happened: Callable[[], bool], seconds: float = math.inf) -> bool:
        """Watch the children until `happened()`; False if told to stop or out of time."""
        deadline = time.monotonic() + seconds
        while not self._stop.is_set() and time.monotonic() < deadline:
            if happened():
                return True
            for child in self.children:
                child.watch(time.monotonic(), self._died)
            for watchdog in self._watchdogs:
                watchdog.look(time.monotonic())
            self._stop.wait(LOOK_SECONDS)
        return False

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        deadline = time.monotonic() + STOP_SECONDS
        for group in self.groups:
            for child in group:
                child.signal(signal.SIGTERM)
            if not _ended(group, deadline):
                for child in group:
                    child.signal(signal.SIGKILL)
                _ended(group, deadline + 1)


def _ended(group: list[Child], deadline: float) -> bool:
    while not all(child.ended() for child in group):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
