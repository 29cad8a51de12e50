"""Watch a storm: how many slots are held at every sample, seen by a connection of its own."""

import threading
import time

from django.db import Error, connections

from queues.models import Slot

PAUSE_SECONDS = 0.02


class Watch(threading.Thread):
    def __init__(self, limits):
        super().__init__(daemon=True)
        self.limits = limits
        self.samples = 0
        self.exceeded = []
        self._over = threading.Event()

    def run(self):
        while not self._over.is_set():
            try:
                self._sample()
            except Error:  # the database is away
                connections.close_all()
            time.sleep(PAUSE_SECONDS)
        connections.close_all()

    def finish(self):
        self._over.set()
        self.join()

    def _sample(self):
        for name, limit in self.limits.items():
            live = Slot.objects.live().filter(queue__name=name).count()
            if live > limit:
                self.exceeded.append(f"{live} of {name} at once, {limit} may")
        self.samples += 1
