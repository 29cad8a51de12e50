"""The worker: it waits at the doorbell, runs the slot it is called to, and survives outages."""

import os
import signal
import time
from contextlib import suppress
from typing import Any

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connections
from redis import Redis
from redis.exceptions import RedisError
from rq import Worker as RQWorker
from rq.exceptions import StopRequested
from rq.utils import now as rq_now

from atributo_site.core.availability.outages import outages
from atributo_site.core.database import forget_plans
from atributo_site.core.errors import DatabaseBusy
from atributo_site.core.events import record
from atributo_site.core.postgresql.statistics import analyse_if_grown
from queues.children.waits import Steps
from queues.models import QueuedJob
from queues.runs.cancellation import CancelChannel
from queues.runs.doorbell import Bell, connection
from queues.runs.slots import HeldSlot, free_slots_with_work
from queues.runs.stations import call_all, ring_waiting
from queues.worker import script_runs
from queues.worker.bell_watcher import BellWatcher
from queues.worker.bells import BellListener
from queues.worker.lanes import Lane, Lanes
from queues.worker.plan import Allowance, WorkPlan
from queues.worker.post import Post
from queues.worker.presence import WorkerPresence
from queues.worker.rq_record import RQRecord
from queues.worker.runners import Left, Runners
from queues.worker.slot_runner import SlotRunner

log = structlog.get_logger(__name__)

ROWS, BELLS = "rows of the worker", "bells of the worker"  # what it tries to reach
ANSWER_SECONDS = 2.0  # Redis that takes longer counts as down
ANNOUNCE_SECONDS = 10.0
DEGRADED_SECONDS = 1.0
NOW_SECONDS = 0.25  # between two looks for scripts that somebody waits for
ROWS_SECONDS = 1.0  # between two looks for jobs without a bell
MOST_ANSWERS = 50
PAUSE_SECONDS = 0.1  # of a worker that takes no more jobs
PLANS_SECONDS = 5.0  # a plan made for a small table is not kept while it grows


class Worker(RQWorker):
    """RQ's worker, whose loop never ends because Redis or the database is away."""

    redis_worker_namespace_prefix = "rq:worker:atributo-"  # others may have a worker of our name

    def __init__(
        self,
        name: str,
        presence: WorkerPresence,
        post: Post | None = None,
        plan: WorkPlan | None = None,
    ) -> None:
        redis = connection(ANSWER_SECONDS)
        self.plan = plan or WorkPlan()
        self.listener = self._listener(redis, post.instance_id if post else "")
        super().__init__(self.listener.doorbells, name=name, connection=redis, worker_ttl=30)
        self.presence = presence
        self.post = post
        self.lanes = Lanes(self.plan.concurrency, settings.ATRIBUTO.worker_memory_mb)
        self.cancellations = CancelChannel(redis)
        self.rq = RQRecord(redis, name, self.key)
        self.allowance = Allowance(self.plan)
        self.runners = Runners(
            name,
            self.rq,
            self.allowance,
            self.cancellations,
            keep=self.keep,
            is_stopping=lambda: self._stop_requested,
            is_called_away=self._is_called_away,
            is_turn_over=self.listener.others_wait,
            look_soon=self._look_soon,
            has_others=lambda: self.listener.hanging > 0,
            is_weighed=bool(self.plan.choice.weights),
            shares=post is None,
        )
        self._called: Bell | None = None  # away from the slot that it works at
        self._waiting = False
        self._announced = self._planned = self._look_at = self._rows_at = 0.0
        self._failed_with = ""
        self._has_missed_bells = False
        self._alarmed = False

    @property
    def connection_timeout(self) -> float:  # type: ignore[override]
        return ANSWER_SECONDS

    def _set_ip_address(self, connection: Any) -> None:
        """Redis may be away when the worker starts."""
        self.ip_address = "unknown"

    def work(self, *args: Any, **options: Any) -> bool:
        self._install_signal_handlers()
        self._arrive()
        while not self._is_done():
            try:
                self.round()
            except StopRequested:
                continue
            except (DatabaseError, DatabaseBusy) as error:
                with suppress(StopRequested):
                    self._without_database(error)
        self._leave()
        return True

    def _is_done(self) -> bool:
        """Return whether nothing runs here and nothing more is to begin."""
        return not self.lanes.busy() and (self._stop_requested or self.allowance.is_used_up)

    def round(self) -> None:
        """Go on with what runs, and begin what may begin; else wait for one of both."""
        self.keep()
        self._plan_anew()
        self.lanes.advance()
        if not self.lanes.busy():
            self.rq.rest()
        if not self._takes_more():
            self._has_missed_bells = True
            if self.rq.is_suspended():  # which only holds for jobs
                self.run_scripts()
            self.lanes.wait([], PAUSE_SECONDS)
            return
        if self.lanes.free() is not None:
            self._fill()
        self._rows_are_there()
        if self.lanes.busy():
            self._wait()

    def _fill(self) -> None:
        """Begin what waits, as far as lanes are free."""
        self.run_scripts()
        if self._has_missed_bells:
            self.look()
        try:
            is_idle = self._answer_all()
        except RedisError as error:
            self._without_redis(error)
            return
        outages.succeeded(BELLS)
        is_time = self.lanes.busy() and time.monotonic() > self._rows_at
        if is_idle or (is_time and self.lanes.free() is not None):
            self.look()  # a delayed job may have become due, a bell may have been lost

    def _answer_all(self) -> bool:
        """Answer the bells as far as lanes are free; return whether there was nothing to do."""
        for _ in range(MOST_ANSWERS):  # then those that run have their turn
            if self.lanes.free() is None:
                return False
            was_idle = not self.lanes.busy()
            bell = self.listen()
            if bell is None:
                return was_idle
            if not self._takes_more():  # since a moment ago
                self._has_missed_bells = True
                return False
            self.answer(bell)
            if self.plan.concurrency == 1:
                return False
        return False

    def _wait(self) -> None:
        """Wait for the children, and for bells if somebody is free to answer."""
        self.lanes.wait([self.listener.fileno()] if self.lanes.free() is not None else [])

    def answer(self, bell: Bell) -> None:
        if bell.queue == script_runs.NOW:
            self._look_at = 0.0
            self.run_scripts()
        elif not self.runners.is_answered(bell):
            self.run_slot(bell)
        self._rows_are_there()

    def run_scripts(self) -> None:
        """Run scripts that somebody waits for, before all jobs; look for them now and then."""
        if time.monotonic() < self._look_at:
            return
        while not self._stop_requested and (lane := self.lanes.free()) is not None:
            if (run := script_runs.taken(self.presence.holder)) is None:
                break
            steps = script_runs.steps(
                run, self.presence.holder, lane.workhorse, self.keep, self.runners.is_stopping
            )
            self._begin(lane, steps)
        self._look_at = time.monotonic() + NOW_SECONDS

    def listen(self) -> Bell | None:
        """Return the next bell; wait for it if nothing else is to be done."""
        if self._called is not None:
            called, self._called = self._called, None
            return called
        if time.monotonic() > self._announced:
            self.announce()
        if self.lanes.busy() or self.plan.burst:
            self.listener.listen()
            self.listener.hear()
            return self.listener.take(shared=self._takes_shared())
        if not self.listener.hanging:
            self.runners.forget_notes()
        self._waiting = True
        try:
            heard = self.listener.wait(shared=self._takes_shared())
        finally:
            self._waiting = False
        if self.listener.saw_suspension is not None:
            self.rq.note_suspension(self.listener.saw_suspension)
        return heard

    def announce(self) -> None:
        """Enter RQ's list of workers, anew after every flush or restart of Redis."""
        self.birth_date = self.birth_date or rq_now()
        self.last_heartbeat = rq_now()
        with self.connection.pipeline() as pipeline:
            pipeline.hset(self.key, mapping=self.serialize())
            self.rq.write(pipeline)
            self.rq.register(pipeline, self)
            pipeline.expire(self.key, self.worker_ttl + 60)
            pipeline.execute()
        self.cancellations.listen()
        self.rq.listen()
        self._announced = time.monotonic() + ANNOUNCE_SECONDS

    def run_slot(self, bell: Bell) -> None:
        """Run the jobs of a slot; a doubled, late or forged bell finds no slot to take."""
        lane = None if self.runners.is_put_off(bell.queue) else self.lanes.free()
        runner = self.runners.take(lane.workhorse, bell, self.presence.holder) if lane else None
        if lane is not None and runner is not None:
            self._begin(lane, self._slot_steps(lane, runner, bell))

    def look(self) -> None:
        """Take a free slot of any queue with work, without a bell."""
        self._rows_at = time.monotonic() + ROWS_SECONDS
        self._has_missed_bells = False
        free = free_slots_with_work() if self.post is None else self.post.free_slots()
        served = [each for each in free if self.plan.choice.serves(each[0])]
        served.sort(key=lambda each: self.plan.choice.place(each[0]) or 0)
        for queue, number in served:
            if self._called is None and self._takes_more():
                self.run_slot(Bell(queue, number))
        if self.plan.burst and not served and not self.lanes.busy():
            self._stop_requested = True

    def _begin(self, lane: Lane, steps: Steps[None]) -> None:
        self.rq.begin()
        self.lanes.begin(lane, steps)
        if self.plan.concurrency == 1:  # nothing else could be done meanwhile
            while not lane.is_free:
                self.lanes.wait([])
                self.lanes.advance()

    def _slot_steps(self, lane: Lane, runner: SlotRunner, bell: Bell) -> Steps[None]:
        begun, slot = time.monotonic(), runner.slot
        if self.post is None:
            left = yield from self.runners.run(runner)
        else:
            left = yield from self._run_at(self.post, runner)
        if (found := self.runners.found.pop(slot.id, None)) is not None:
            self.runners.begin_many(self.lanes, slot, *found)
            left = None
        self.allowance.leave(lane.workhorse)
        self.listener.answered(bell, time.monotonic() - begun)
        if left is not None:  # a push may have found the slot still taken
            ring_waiting(slot.queue_id, slot.queue, left.waiting, leftover=left.is_slice_over)

    def keep(self) -> None:
        """Renew the lease of this worker, and of its instance if it has one."""
        self.presence.keep()
        self.rq.tick()
        self.rq.obey(self._shut_down)
        if self.post is not None:
            self.post.keep(self._stop_requested)

    def _run_at(self, post: Post, runner: SlotRunner) -> Steps[Left | None]:
        post.begin()
        runner.reserve = self.runners.within_plan(runner.workhorse, post.reserve)
        runner.call = call_all
        try:
            return (yield from self.runners.run(runner))
        finally:
            post.end()

    def _takes_more(self) -> bool:
        """Return whether a job may begin here now."""
        is_over = self._stop_requested or not self.allowance.has_room()
        return not is_over and not self.rq.is_suspended()

    def _look_soon(self) -> None:
        self._has_missed_bells = True

    def _shut_down(self) -> None:
        log.info("shutdown_command")
        self._stop_requested = True

    def _is_called_away(self, slot: HeldSlot) -> bool:
        if self._called is None and self.lanes.free() is None:
            self._called = self.listener.urgent(slot.queue_id, shared=self._takes_shared())
        return self._called is not None

    def _takes_shared(self) -> bool:
        return self.post is None or self.post.takes_shared

    def _plan_anew(self) -> None:
        if time.monotonic() > self._planned:
            self._planned = time.monotonic() + PLANS_SECONDS  # also if one of them fails
            analyse_if_grown(QueuedJob._meta.db_table)
            forget_plans()

    def request_stop(self, signum: int, frame: Any) -> None:
        self._stop_requested = True
        if self._waiting:  # what it might have popped is rung again
            raise StopRequested

    def _install_signal_handlers(self) -> None:
        signal.signal(signal.SIGINT, self.request_stop)
        signal.signal(signal.SIGTERM, self.request_stop)

    def _alarm(self, message_id: bytes) -> None:
        """Report that somebody writes among our bells; one event is enough to be noticed."""
        message = repr(message_id[:100])
        log.warning("foreign_message", message=message)
        if not self._alarmed:
            record("doorbell.foreign", f"process:{self.name}", message=message)
        self._alarmed = True

    def _without_redis(self, error: RedisError) -> None:
        if not outages.failed(BELLS, error):
            self._log_once(error)
        self._announced = 0.0
        self.look()
        self._rows_are_there()
        self._pause()

    def _pause(self) -> None:
        """Wait; a stop signal ends it."""
        self._waiting = True
        try:
            time.sleep(DEGRADED_SECONDS)
        finally:
            self._waiting = False

    def _without_database(self, error: Exception) -> None:
        if not outages.failed(ROWS, error):
            self._log_once(error)
        connections.close_all()
        self._pause()

    def _log_once(self, error: Exception) -> None:
        """Log a failure, and not again while it stays the same."""
        if repr(error) != self._failed_with:
            log.error("round_failed", exc_info=error)
        self._failed_with = repr(error)

    def _rows_are_there(self) -> None:
        self._failed_with = ""
        outages.succeeded(ROWS)

    def _arrive(self) -> None:
        """Show up after the handlers are set: whoever sees this worker may stop it cleanly."""
        self.presence.arrive(lambda: self._stop_requested)
        if self.post is not None:
            self.post.open()

    def _listener(self, redis: Redis, station: str) -> BellListener | BellWatcher:
        if self.plan.choice.is_everything and self.plan.concurrency == 1:
            return BellListener(redis, station, self._alarm)
        return BellWatcher(redis, station, self._alarm, self.plan.choice)

    def _leave(self) -> None:
        self.lanes.kill()
        self.runners.forget_notes()
        try:
            (self.presence if self.post is None else self.post).leave()
        except (DatabaseError, DatabaseBusy):
            log.warning("lease_left_to_expire")
        try:
            self.register_death()
        except RedisError:
            log.warning("death_not_registered")


def default_name() -> str:
    return f"{os.uname().nodename}-{os.getpid()}"
