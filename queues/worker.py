"""The worker: waits at the doorbell, pumps the slot it is called to, survives what it needs."""

import os
import signal
import time
from typing import Any

import structlog
from django.db import Error as DatabaseError
from django.db import connections
from redis.exceptions import RedisError
from rq import Worker as RQWorker
from rq import worker_registration
from rq.exceptions import DequeueTimeout, StopRequested
from rq.utils import now as rq_now

from queues.doorbell import Bell, DoorbellJob, DoorbellQueue, connection, doorbell_queue
from queues.presence import Presence

log = structlog.get_logger(__name__)

WAIT_SECONDS = 1
ANSWER_SECONDS = 2.0  # Redis that takes longer counts as down
ANNOUNCE_SECONDS = 10.0
DEGRADED_SECONDS = 1.0


class Worker(RQWorker):
    """RQ's worker, whose loop never ends because Redis or the database is away."""

    job_class = DoorbellJob
    queue_class = DoorbellQueue

    def __init__(self, name: str, presence: Presence) -> None:
        redis = connection(ANSWER_SECONDS)
        super().__init__([doorbell_queue(redis)], name=name, connection=redis, worker_ttl=30)
        self.presence = presence
        self._waiting = False
        self._announced = 0.0
        self._degraded = False

    @property
    def connection_timeout(self) -> float:  # type: ignore[override]
        return ANSWER_SECONDS

    def _set_ip_address(self, connection: Any) -> None:
        """Redis may be away when the worker starts."""
        self.ip_address = "unknown"

    def work(self, *args: Any, **options: Any) -> bool:
        self._install_signal_handlers()
        while not self._stop_requested:
            try:
                self.round()
            except StopRequested:
                break
            except DatabaseError:
                self._without_database()
        self._leave()
        return True

    def round(self) -> None:
        """One wait at the doorbell, or one look at the rows while Redis is away."""
        self.presence.keep()
        try:
            bell = self.listen()
        except RedisError as error:
            self._without_redis(error)
            return
        self._degraded = False
        if bell is not None:
            self.pump(bell)

    def listen(self) -> Bell | None:
        if time.monotonic() > self._announced:
            self.announce()
        self._waiting = True
        try:
            found = self.queue_class.dequeue_any(
                self.queues,
                WAIT_SECONDS,
                connection=self.connection,
                job_class=self.job_class,
                serializer=self.serializer,
            )
        except DequeueTimeout:
            return None
        finally:
            self._waiting = False
        return None if found is None else self._taken(found[0])

    def announce(self) -> None:
        """RQ's own list of workers, made anew after every flush or restart of Redis."""
        self.birth_date = self.birth_date or rq_now()
        self.last_heartbeat = rq_now()
        with self.connection.pipeline() as pipeline:
            pipeline.hset(self.key, mapping=self.serialize())
            worker_registration.register(self, pipeline)
            pipeline.expire(self.key, self.worker_ttl + 60)
            pipeline.execute()
        self._announced = time.monotonic() + ANNOUNCE_SECONDS

    def pump(self, bell: Bell) -> None:
        log.info("bell", queue=bell.queue, slot=bell.slot)

    def request_stop(self, signum: int, frame: Any) -> None:
        self._stop_requested = True
        if self._waiting:  # what it might have popped is rung again
            raise StopRequested

    def _install_signal_handlers(self) -> None:
        signal.signal(signal.SIGINT, self.request_stop)
        signal.signal(signal.SIGTERM, self.request_stop)

    def _taken(self, rq_job: Any) -> Bell | None:
        """A message is read once and gone; one that we did not write is only counted."""
        with self.connection.pipeline() as pipeline:
            pipeline.delete(rq_job.key, self.queues[0].intermediate_queue_key)
            pipeline.execute()
        if rq_job.bell is None:
            log.warning("forged_bell", message=rq_job.id)
        return rq_job.bell

    def _without_redis(self, error: RedisError) -> None:
        if not self._degraded:
            log.warning("redis_away", error=str(error))
        self._degraded = True
        self._announced = 0.0
        time.sleep(DEGRADED_SECONDS)

    def _without_database(self) -> None:
        log.warning("database_away", exc_info=True)
        connections.close_all()
        time.sleep(DEGRADED_SECONDS)

    def _leave(self) -> None:
        try:
            self.presence.leave()
        except DatabaseError:
            log.warning("lease_left_to_expire")
        try:
            self.register_death()
        except RedisError:
            log.warning("death_not_registered")


def default_name() -> str:
    return f"{os.uname().nodename}-{os.getpid()}"
