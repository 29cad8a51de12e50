"""The worker: it waits at the doorbell, runs the slot it is called to, and survives outages."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connections
from redis.exceptions import RedisError
from rq import Worker as RQWorker
from rq import worker_registration
from rq.exceptions import StopRequested
from rq.utils import now as rq_now

from atributo_site.core.database import forget_plans
from atributo_site.core.errors import LeaseLost
from atributo_site.core.events import record
from queues.runs.cancellation import CancelChannel
from queues.runs.doorbell import Bell, connection
from queues.runs.slots import HeldSlot, acquire, free_slots_with_work
from queues.runs.stations import call_all
from queues.worker import script_runs
from queues.worker.bells import BellListener
from queues.worker.child_process import Workhorse
from queues.worker.notes_reader import forget
from queues.worker.post import Post
from queues.worker.presence import WorkerPresence
from queues.worker.slot_runner import SlotRunner

log = structlog.get_logger(__name__)

ANSWER_SECONDS = 2.0  # Redis that takes longer counts as down
ANNOUNCE_SECONDS = 10.0
DEGRADED_SECONDS = 1.0
NOW_SECONDS = 0.25  # between two looks for scripts that somebody waits for
TURN_SECONDS = 0.5  # of a queue that did not wait for its turn, while others do
PLANS_SECONDS = 5.0  # a plan made for a small table is not kept while it grows


class Worker(RQWorker):
    """RQ's worker, whose loop never ends because Redis or the database is away."""

    redis_worker_namespace_prefix = "rq:worker:atributo-"  # others may have a worker of our name

    def __init__(self, name: str, presence: WorkerPresence, post: Post | None = None) -> None:
        redis = connection(ANSWER_SECONDS)
        self.listener = BellListener(redis, post.instance_id if post else "", self._alarm)
        super().__init__(self.listener.doorbells, name=name, connection=redis, worker_ttl=30)
        self.presence = presence
        self.post = post
        self.workhorse = Workhorse(settings.ATRIBUTO.worker_memory_mb)
        self.cancellations = CancelChannel(redis)
        self._called: Bell | None = None  # away from the slot that it works at
        self._turn_until = 0.0
        self._waiting = False
        self._announced = 0.0
        self._planned = 0.0
        self._look_at = 0.0
        self._degraded = False
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
        while not self._stop_requested:
            try:
                self.round()
            except StopRequested:
                break
            except DatabaseError:
                self._quietly(self._without_database)
        self._leave()
        return True

    def round(self) -> None:
        """Wait at the doorbell once, or look at the rows once while Redis is away."""
        self.keep()
        self._plan_anew()
        if time.monotonic() > self._look_at:
            self.run_scripts()
        try:
            bell = self.listen()
        except RedisError as error:
            self._without_redis(error)
            return
        self._degraded = False
        if bell is None:
            self.look()  # a delayed job may have become due, a bell may have been lost
        elif bell.queue == script_runs.NOW:
            self.run_scripts()
        else:
            self.run_slot(bell)

    def run_scripts(self) -> None:
        """Run scripts that somebody waits for, before all jobs."""
        stops = lambda: self._stop_requested  # noqa: E731
        while not self._stop_requested and script_runs.run_next(
            self.presence.holder, self.workhorse, self.keep, stops
        ):
            pass
        self._look_at = time.monotonic() + NOW_SECONDS

    def listen(self) -> Bell | None:
        if self._called is not None:
            bell, self._called = self._called, None
            return bell
        if time.monotonic() > self._announced:
            self.announce()
        self._waiting = True
        try:
            return self.listener.wait(shared=self._takes_shared())
        finally:
            self._waiting = False

    def announce(self) -> None:
        """Enter RQ's list of workers, anew after every flush or restart of Redis."""
        self.birth_date = self.birth_date or rq_now()
        self.last_heartbeat = rq_now()
        with self.connection.pipeline() as pipeline:
            pipeline.hset(self.key, mapping=self.serialize())
            worker_registration.register(self, pipeline)
            pipeline.expire(self.key, self.worker_ttl + 60)
            pipeline.execute()
        self.cancellations.listen()
        self._announced = time.monotonic() + ANNOUNCE_SECONDS

    def run_slot(self, bell: Bell) -> None:
        """Run the jobs of a slot; a doubled, late or forged bell finds no slot to take."""
        slot = acquire(bell.queue, bell.slot, self.presence.holder)
        if slot is None:
            return
        begun = time.monotonic()
        runner = self._runner_of(slot, bell)
        more = self._run(runner) if self.post is None else self._run_at(self.post, runner)
        self.listener.answered(bell, time.monotonic() - begun)
        if more is not None:  # a push may have found the slot still taken
            call_all(slot, leftover=more)

    def look(self) -> None:
        """Take a free slot of any queue with work, without a bell."""
        free = free_slots_with_work() if self.post is None else self.post.free_slots()
        for queue, number in free:
            if self._called is None:
                self.run_slot(Bell(queue, number))

    def keep(self) -> None:
        """Renew the lease of this worker, and of its instance if it has one."""
        self.presence.keep()
        if self.post is not None:
            self.post.keep(self._stop_requested)

    def _run_at(self, post: Post, runner: SlotRunner) -> bool | None:
        post.begin()
        runner.reserve, runner.call = post.reserve, call_all
        try:
            return self._run(runner)
        finally:
            post.end()

    def _run(self, runner: SlotRunner) -> bool | None:
        """Return whether work may be left; None when the slot went to another meanwhile."""
        try:
            more = runner.run()
        except LeaseLost as error:
            log.warning("slot_lost", error=str(error))
            return None
        leave(runner.slot)
        return more

    def _runner_of(self, slot: HeldSlot, bell: Bell) -> SlotRunner:
        self._turn_until = time.monotonic() + TURN_SECONDS
        return SlotRunner(
            slot,
            self.workhorse,
            self.name,
            self.keep,
            lambda: self._stop_requested,
            self.cancellations.has_come,
            is_wanted=lambda: self._is_called_away(slot) or (bell.first and self._is_turn_over()),
        )

    def _is_called_away(self, slot: HeldSlot) -> bool:
        if self._called is None:
            self._called = self.listener.urgent(slot.queue_id, shared=self._takes_shared())
        return self._called is not None

    def _is_turn_over(self) -> bool:
        now = time.monotonic()
        if now < self._turn_until:
            return False
        self._turn_until = now + TURN_SECONDS
        return self.listener.others_wait()

    def _takes_shared(self) -> bool:
        return self.post is None or self.post.takes_shared

    def _plan_anew(self) -> None:
        if time.monotonic() > self._planned:
            forget_plans()
            self._planned = time.monotonic() + PLANS_SECONDS

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
        if not self._degraded:
            log.warning("redis_away", error=str(error))
        self._degraded = True
        self._announced = 0.0
        self.look()
        self._pause()

    def _pause(self) -> None:
        """Wait; a stop signal ends it."""
        self._waiting = True
        try:
            time.sleep(DEGRADED_SECONDS)
        finally:
            self._waiting = False

    def _without_database(self) -> None:
        log.warning("database_away", exc_info=True)
        connections.close_all()
        self.workhorse.kill()
        self._pause()

    def _quietly(self, step: Callable[[], None]) -> None:
        with suppress(StopRequested):
            step()

    def _arrive(self) -> None:
        """Show up after the handlers are set: whoever sees this worker may stop it cleanly."""
        self.presence.arrive(lambda: self._stop_requested)
        if self.post is not None:
            self.post.open()

    def _leave(self) -> None:
        self.workhorse.kill()
        try:
            (self.presence if self.post is None else self.post).leave()
        except DatabaseError:
            log.warning("lease_left_to_expire")
        try:
            self.register_death()
        except RedisError:
            log.warning("death_not_registered")


def leave(slot: HeldSlot) -> None:
    """Leave a slot in which everything that began is recorded."""
    slot.give_back()
    slot.release()
    forget(slot.notes_key)


def default_name() -> str:
    return f"{os.uname().nodename}-{os.getpid()}"
