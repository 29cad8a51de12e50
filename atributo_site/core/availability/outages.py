"""Log one line when a server goes away and one when it is back, however often it is tried."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

import structlog

from atributo_site.core.availability.trouble import trouble_of

log = structlog.get_logger("atributo.availability")
REQUESTS = "requests"  # the source of what a web process answers; its heartbeat ends their outage


@dataclass
class Outage:
    began_at: float
    state: str = ""
    failures: int = 0
    sources: set[str] = field(default_factory=set)


class Outages:
    """Remember for this process what is away; a source is a part of the code that tries.

    An outage is over when every source that failed has succeeded again: on a read-only database
    some of them succeed all the time.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._open: dict[str, Outage] = {}
        self._lock = Lock()

    def failed(self, source: str, error: BaseException) -> bool:
        """Note a failure; return False if the error tells of no outage, so the caller logs it."""
        trouble = trouble_of(error)
        if trouble is None:
            return False
        with self._lock:
            outage = self._open.setdefault(trouble.system, Outage(self._monotonic()))
            outage.sources.add(source)
            outage.failures += 1
            is_news = outage.state != trouble.state
            outage.state = trouble.state
        if is_news:
            log.warning(f"{trouble.system}_{trouble.state}", error=first_line(error))
        return True

    def warn(self, event: str, error: BaseException, **facts: object) -> None:
        """Log an event that an error caused, unless an outage that the log has is the cause."""
        if not self.failed(event, error):
            log.warning(event, error=first_line(error), **facts)

    def succeeded(self, source: str) -> None:
        """Note that this source reached all that it needs."""
        if self._open:
            self._forget(source)

    def state_of(self, system: str) -> str:
        """Return what is wrong with it as far as this process knows; "" if nothing is."""
        outage = self._open.get(system)
        return outage.state if outage else ""

    def _forget(self, source: str) -> None:
        with self._lock:
            for outage in self._open.values():
                outage.sources.discard(source)
            over = {name: each for name, each in self._open.items() if not each.sources}
            for name in over:
                del self._open[name]
        for name, each in over.items():
            seconds = round(self._monotonic() - each.began_at, 1)
            log.warning(f"{name}_back", after_seconds=seconds, failures=each.failures)


def first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).strip().partition("\n")[0]


outages = Outages()
