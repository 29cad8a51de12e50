"""Keep a presence alive beside a program that has a main loop of its own."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from django.conf import settings
from django.db import connection

from allocation.presence import Presence
from atributo_site.loops import Loop, Step


def presence_of(kind: str, name: str) -> Presence:
    env = settings.ATRIBUTO
    return Presence(
        kind,
        name,
        seconds=env.worker_lease_ms / 1000,
        beat_seconds=env.worker_heartbeat_ms / 1000,
    )


@contextmanager
def beating(presence: Presence, run: Callable[[datetime], float] | None = None) -> Iterator[None]:
    """Beats in a thread, by `run` if given; leaves cleanly at the end."""
    loop = Loop([Step("presence", run or presence.step)])
    thread = threading.Thread(target=_beat, args=(loop, presence), name="presence", daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.stop()
        thread.join(timeout=2)


def _beat(loop: Loop, presence: Presence) -> None:
    try:
        loop.run()
        presence.leave()
    finally:
        connection.close()
