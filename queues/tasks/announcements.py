"""Signals of the Tasks API about a run, sent in the process in which the function runs.

What a receiver raises is logged and changes nothing. A process that is killed sends no end.
"""

from datetime import datetime
from typing import Any

import structlog
from django.core.exceptions import ImproperlyConfigured, ObjectDoesNotExist
from django.db import DatabaseError
from django.utils import timezone

from atributo_site.core.errors import AtributoError
from queues.logic.lifecycle import Counts, Ending, Outcome, Policy, after
from queues.logic.mounts import is_module
from queues.models import QueuedJob
from queues.tasks.library import installed, part

log = structlog.get_logger(__name__)


class Announcement:
    """One run of a task, of which `task_started` was sent."""

    def __init__(self, row: QueuedJob, result: Any, sender: type) -> None:
        self._row, self._result, self._sender = row, result, sender
        self._begun_at = timezone.now()

    def send(self, name: str) -> None:
        signal = getattr(part("signals"), name)
        signal.send_robust(self._sender, task_result=self._result)

    def end(self, ended: dict[str, Any]) -> None:
        """Send `task_finished` unless another attempt follows."""
        now = timezone.now()
        if not self._is_over(ended, now):
            return
        status = "SUCCESSFUL" if ended["ok"] else "FAILED"
        object.__setattr__(self._result, "status", part("base").TaskResultStatus[status])
        object.__setattr__(self._result, "finished_at", now)
        if ended["ok"]:
            object.__setattr__(self._result, "_return_value", ended["result"])
        else:
            self._result.errors.append(_error(ended))
        self.send("task_finished")

    def _is_over(self, ended: dict[str, Any], now: datetime) -> bool:
        """Return whether the run ends with this attempt, as its `success` or `failure` would."""
        row, ending = self._row, ended.get("ending")
        policy = Policy(row.max_failures, row.repeat_times, row.repeat_until, row.repeat_delay_ms)
        outcome = Outcome.COMPLETE if ended["ok"] else Outcome.FAILED
        if ending == Ending.SNOOZE:
            outcome = Outcome.SNOOZED
        following = after(
            policy,
            Counts(row.runs, row.run_failures, row.lost),
            outcome,
            started_at=self._begun_at,
            now=now,
            is_final=ending == Ending.GIVE_UP,
        )
        return following.callback is not None


def announce(work: dict[str, Any]) -> Announcement | None:
    """Send `task_started` for the job of a function, where a backend of the API is ours."""
    if not work.get("job") or not is_module(work["mount"]) or installed() is None:
        return None
    try:
        announcement = _announcement(work["job"])
    except (AtributoError, DatabaseError, ObjectDoesNotExist, ImproperlyConfigured) as error:
        log.warning("signal_not_sent", job=work["job"]["id"], error=repr(error))
        return None
    if announcement is not None:
        announcement.send("task_started")
    return announcement


def _announcement(job: dict[str, Any]) -> Announcement | None:
    from queues.tasks.backend import AtributoBackend
    from queues.tasks.running import own_alias, running

    if own_alias() is None:
        return None
    row = QueuedJob.objects.select_related("queue", "slot").get(pk=job["id"])
    return Announcement(row, running(row, job["attempt"]), AtributoBackend)


def _error(ended: dict[str, Any]) -> Any:
    from queues.tasks.results import error_of

    return error_of(ended["error"], ended["traceback"])
