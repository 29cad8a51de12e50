"""Scripts that run now: a row asks for it, and a worker takes the row before any job."""

import secrets
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.db.transaction import atomic
from redis.exceptions import RedisError

from atributo_site.core.availability.outages import outages
from atributo_site.core.events import Actor, acting, current_actor, record
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import from_now
from atributo_site.core.text import runnable
from queues.children.child_process import Workhorse
from queues.children.waits import Steps, followed
from queues.errors import NoWorker, ScriptFailed, ScriptRunNotFound, ScriptStillRuns
from queues.models import ScriptRun
from queues.runs.doorbell import NOT_SENT, channel_of, send
from queues.worker import script_follower
from queues.worker.script_follower import ScriptResult

State = ScriptRun.State
NOW = ""  # the queue of a bell that calls for these: no queue has this name
BEGIN_SECONDS = 20.0  # "now" is over by then
WAIT_SECONDS = 20.0  # after this long the caller gets an address instead of the result
STOP_SECONDS = 7.0  # a stopping worker lets a run go on for this long
SHORTEST_PAUSE, LONGEST_PAUSE = 0.01, 0.1
NOBODY = "no worker is running: start one with `manage.py worker`"


def at_worker(work: dict[str, Any], *, whole: bool = False) -> ScriptResult:
    """Run it and return the result; ScriptStillRuns after a while, unless `whole` waits for it."""
    if connection.in_atomic_block:
        raise RuntimeError("no worker sees a row before the transaction around it commits")
    if not _has_workers():
        raise NoWorker(runnable(NOBODY))
    run = _asked(work)
    seconds = WAIT_SECONDS
    if whole:  # it begins or not, ends or is ended, and a lost worker is noticed
        seconds = BEGIN_SECONDS + work["timeout_ms"] / 1000 + 4 * _lease_seconds()
    answer = _waited_for(run, time.monotonic() + seconds)
    if answer is None:
        raise ScriptStillRuns(f"{run} still runs", run.key)
    return result_of(answer)


def get_run(key: str) -> ScriptRun:
    """Return a run that the current actor has asked for, as it is now."""
    run = ScriptRun.objects.filter(key=key, asked_by=current_actor().name).first()
    if run is None:
        raise ScriptRunNotFound("There is no such run, or its result is no longer kept.")
    if run.state != State.ENDED and _end_overdue(run.pk):
        run.refresh_from_db()
    return run


def result_of(answer: dict[str, Any]) -> ScriptResult:
    """Return the result, or raise ScriptFailed."""
    if "error" in answer:
        facts = {name: answer[name] for name in ("traceback", "lines") if name in answer}
        raise ScriptFailed(answer["error"], answer["status_code"], **facts)
    return ScriptResult(**answer)


def run_next(
    holder: str, workhorse: Workhorse, keep_alive: Callable[[], None], stops: Callable[[], bool]
) -> bool:
    """Take the oldest that waits and run it; False when none does."""
    run = taken(holder)
    if run is None:
        return False
    followed(steps(run, holder, workhorse, keep_alive, stops))
    return True


def steps(
    run: ScriptRun,
    holder: str,
    workhorse: Workhorse,
    keep_alive: Callable[[], None],
    stops: Callable[[], bool],
) -> Steps[None]:
    """Run a script that this holder has taken, and store its answer."""
    watch = _Watch(run, holder, keep_alive, stops)
    try:
        answer = (yield from script_follower.steps(workhorse, run.work, watch)).as_answer()
    except ScriptFailed as error:
        answer = {"error": str(error), "status_code": error.status_code, **error.facts}
    _store(run, holder, answer)


class _Watch:
    """Renew the holder's lease of a run while it lasts; end the run when the worker stops."""

    def __init__(
        self,
        run: ScriptRun,
        holder: str,
        keep_alive: Callable[[], None],
        stops: Callable[[], bool],
    ) -> None:
        self._mine = ScriptRun.objects.held_by(run.pk, holder)
        self._keep_alive = keep_alive
        self._stops = stops
        self._renew_at = 0.0
        self._stop_at: float | None = None

    def __call__(self) -> str:
        self._keep_alive()
        now = time.monotonic()
        if now > self._renew_at:
            self._renew_at = now + settings.ATRIBUTO.worker_heartbeat_ms / 1000
            if not self._mine.update(leased_until=from_now(_lease_seconds())):
                return "the worker came too late"
        if not self._stops():
            return ""
        self._stop_at = self._stop_at or now + STOP_SECONDS
        return "the worker stopped" if now > self._stop_at else ""


def _asked(work: dict[str, Any]) -> ScriptRun:
    run = ScriptRun.objects.create(
        key=secrets.token_urlsafe(16),
        asked_by=current_actor().name,
        work=work,
        begin_by=from_now(BEGIN_SECONDS),
    )
    try:
        send(0, NOW, [(run.pk, 0)], channel_of("", first=True))
    except RedisError as error:  # workers look by themselves
        outages.warn(NOT_SENT, error, run=run.pk)
    return run


def _waited_for(run: ScriptRun, give_up: float) -> dict[str, Any] | None:
    """Wait for the answer; None when it did not come in time, and nobody waits any more."""
    pause, look_at = SHORTEST_PAUSE, time.monotonic() + 1.0
    while True:
        row = ScriptRun.objects.filter(pk=run.pk).values_list("state", "answer").get()
        if row[0] == State.ENDED:
            return row[1]
        if time.monotonic() > give_up and _leave(run):
            return None
        if time.monotonic() > look_at:
            _end_overdue(run.pk)
            look_at = time.monotonic() + 1.0
            if not _has_workers() and _cancel(run):
                raise NoWorker(runnable(NOBODY))
        time.sleep(pause)
        pause = min(pause * 1.2, LONGEST_PAUSE)


def _leave(run: ScriptRun) -> bool:
    return ScriptRun.objects.unfinished().filter(pk=run.pk).update(is_left=True) == 1


def _cancel(run: ScriptRun) -> bool:
    waiting = ScriptRun.objects.filter(pk=run.pk, state=State.WAITING)
    return waiting.update(state=State.ENDED, answer=_failure(runnable(NOBODY))) == 1


def _end_overdue(pk: int) -> bool:
    """End what nobody has begun in time, or whose worker is gone."""
    rows = ScriptRun.objects.filter(pk=pk)
    late = rows.filter(state=State.WAITING, begin_by__lt=Now())
    lost = rows.filter(state=State.RUNNING, leased_until__lt=Now())
    busy = _failure(f"no worker was free within {BEGIN_SECONDS:.0f}s")
    gone = _failure("its worker died; it is unknown whether the script did anything")
    return bool(
        late.update(state=State.ENDED, answer=busy) or lost.update(state=State.ENDED, answer=gone)
    )


def _failure(reason: str) -> dict[str, Any]:
    return {"error": reason, "status_code": 503}


def taken(holder: str) -> ScriptRun | None:
    for pk in ScriptRun.objects.waiting().values_list("pk", flat=True)[:10]:
        mine = {"state": State.RUNNING, "holder": holder}
        until = from_now(_lease_seconds())
        if ScriptRun.objects.waiting().filter(pk=pk).update(leased_until=until, **mine):
            return ScriptRun.objects.get(pk=pk)
    return None


def _store(run: ScriptRun, holder: str, answer: dict[str, Any]) -> None:
    """Store the answer; where nobody waits for it any more, record an event."""
    with atomic():
        stored = ScriptRun.objects.held_by(run.pk, holder).update(state=State.ENDED, answer=answer)
        if not stored or not ScriptRun.objects.filter(pk=run.pk, is_left=True).exists():
            return
        with acting(Actor(run.asked_by)):
            record_end(run.work, answer)


def record_end(work: dict[str, Any], answer: dict[str, Any]) -> None:
    """Record the event of a run that ended."""
    about, script = f"service:{work['mount']}", work["script"]
    if "error" in answer:
        record("script.failed", about, script=script, error=answer["error"][:200])
    else:
        kind = "script.dry_ran" if work.get("dry_run") else "script.ran"
        record(kind, about, script=script, seconds=round(answer["seconds"], 3))


def has_waiting() -> bool:
    return ScriptRun.objects.waiting().exists()


def _has_workers() -> bool:
    return Lease.objects.held().filter(role__startswith="worker/").exists()


def _lease_seconds() -> float:
    return settings.ATRIBUTO.worker_lease_ms / 1000
