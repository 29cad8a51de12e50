"""How a script ends its attempt by its own decision: try again later, or give up.

These are no Exceptions, so that a script that handles its errors does not handle them by accident.
"""

from datetime import datetime, timedelta
from typing import NoReturn

from queues.logic.lifecycle import Ending
from queues.logic.options import BadOption, duration, moment

Delay = int | float | timedelta


class ScriptEnding(BaseException):
    """The script has decided how its attempt ends."""

    word = ""

    def __init__(self, reason: str = "", *, delay: int | None = None, due: int | None = None):
        super().__init__(reason or self.word)
        self.delay = delay  # milliseconds from the end of the attempt
        self.due = due  # milliseconds since 1970


class Snooze(ScriptEnding):
    """Run the job again at a later moment; this attempt is no failure."""

    word = Ending.SNOOZE.value


class GiveUp(ScriptEnding):
    """Fail for good: the run is not tried again."""

    word = Ending.GIVE_UP.value


class Retry(ScriptEnding):
    """Fail, and wait this long before the next attempt instead of the back-off."""

    word = Ending.RETRY.value


def snooze(
    delay: Delay | None = None, *, until: datetime | float | None = None, reason: str = ""
) -> NoReturn:
    """End this attempt; the job starts again after `delay` (ms) or at the moment `until`."""
    if (delay is None) == (until is None):
        raise BadOption("snooze takes either a delay or until, a moment")
    if delay is not None:
        raise Snooze(str(reason), delay=duration("delay", delay))
    due = moment("until", until).timestamp() * 1000
    raise Snooze(str(reason), due=round(due))


def give_up(reason: str = "") -> NoReturn:
    """Fail this run for good, however many retries are left."""
    raise GiveUp(str(reason) or "the script gave up")


def retry(delay: Delay, *, reason: str = "") -> NoReturn:
    """Fail this attempt; the next one, if one is left, starts after `delay` (ms)."""
    raise Retry(str(reason) or "the script asked for a retry", delay=duration("delay", delay))
