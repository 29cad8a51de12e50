"""How RQ sees a worker: state, current job and counters; and RQ's suspension and shutdown.

What is written here is for `rq info`, dashboards and RQ's own commands. Nothing reads it to decide
about jobs, except that a suspended worker takes none.
"""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, worker_registration
from rq import Worker as RQWorker
from rq.command import PUBSUB_CHANNEL_TEMPLATE
from rq.job import Job
from rq.suspension import WORKERS_SUSPENDED
from rq.utils import now, utcformat
from rq.worker import WorkerStatus

from queues.logic.lifecycle import Outcome
from queues.runs.outcome_rows import AttemptResult
from queues.runs.reservation import Reserved

LOOK_SECONDS = 0.02  # between two looks whether workers are suspended
OBEY_SECONDS = 0.1
SHOW_SECONDS = 0.25  # a worker that is busy for a shorter time is not shown as busy
AWAY_SECONDS = 2.0  # a Redis that did not answer is not asked again for so long
JOB_SECONDS = 3600
log = structlog.get_logger(__name__)


class RQRecord:
    def __init__(self, redis: Redis, name: str, key: str) -> None:
        self._redis = redis
        self._name = f"atributo-{name}"  # as RQ's own tools read it from the key
        self._key = key
        self._jobs: list[Reserved] = []  # that run now, the newest at the end
        self._busy_since: float | None = None
        self._state, self._shown_state = WorkerStatus.IDLE, ""
        self._shown_job = ""
        self._succeeded = self._failed = 0
        self._seconds = 0.0
        self._is_told = True
        self._show_at = self._look_at = self._away_until = 0.0
        self._suspended = False
        self._subscription: Any = None
        self._obey_at = 0.0

    def begin(self) -> None:
        """A lane of the worker is busy from now on."""
        self._state = WorkerStatus.BUSY
        self._busy_since = self._busy_since or time.monotonic()

    def rest(self) -> None:
        """No lane is busy."""
        self._busy_since, self._jobs = None, []
        self._state = WorkerStatus.SUSPENDED if self._suspended else WorkerStatus.IDLE
        is_due = not self._is_told and time.monotonic() > self._show_at
        if self._shown_state != self._state or is_due:
            self.show()

    def begin_job(self, job: Reserved) -> None:
        """A job is shown as running."""
        self.note_job(job)
        self.show()

    def note_job(self, job: Reserved) -> None:
        """A job runs among many others; it is shown with the next tick."""
        self._jobs.append(job)

    def end_jobs(self, results: Sequence[AttemptResult]) -> None:
        ended = {result.job.id for result in results}
        self._jobs = [job for job in self._jobs if job.id not in ended]
        for result in results:
            self._succeeded += result.outcome is Outcome.COMPLETE
            self._failed += result.outcome is Outcome.FAILED
            self._seconds += (result.ended_at - result.started_at).total_seconds()
        self._is_told = False

    def tick(self) -> None:
        """Show a worker that has been busy for a while."""
        since, at = self._busy_since, time.monotonic()
        if since is not None and at > since + SHOW_SECONDS and at > self._show_at:
            self.show()

    def facts(self) -> dict[str, Any]:
        """Return the fields of the worker's hash."""
        job = str(self._jobs[-1].id) if self._jobs else ""
        return {
            "state": str(self._state.value),
            "current_job": job,
            "successful_job_count": self._succeeded,
            "failed_job_count": self._failed,
            "total_working_time": self._seconds,
        }

    def show(self) -> None:
        at = time.monotonic()
        if at < self._away_until:
            return
        self._show_at = at + SHOW_SECONDS
        try:
            with self._redis.pipeline(transaction=False) as pipeline:
                self.write(pipeline)
                pipeline.execute()
        except RedisError as error:
            self._miss(error)

    def write(self, pipeline: Any) -> None:
        """Add it to what is sent: the hash of the current job before that of the worker."""
        job, facts = self._jobs[-1] if self._jobs else None, self.facts()
        if self._shown_job not in ("", facts["current_job"]):
            pipeline.delete(Job.key_for(self._shown_job))
        if job is None:
            del facts["current_job"]
            pipeline.hdel(self._key, "current_job")
        else:
            pipeline.hset(Job.key_for(str(job.id)), mapping=self._hash_of(job))
            pipeline.expire(Job.key_for(str(job.id)), JOB_SECONDS)
        pipeline.hset(self._key, mapping=facts)
        self._shown_job, self._shown_state = facts.get("current_job", ""), self._state
        self._is_told = True

    def register(self, pipeline: Any, worker: RQWorker) -> None:
        """Enter RQ's lists; beside queues of others, `rq info` shows the workers of known ones."""
        worker_registration.register(worker, pipeline)
        pipeline.sadd(Queue.redis_queues_keys, *(each.key for each in worker.queues))

    def is_suspended(self) -> bool:
        """Return whether `rq suspend` was called; a Redis that is away leaves it as it was."""
        at = time.monotonic()
        if at < max(self._look_at, self._away_until):
            return self._suspended
        self._look_at = at + LOOK_SECONDS
        try:
            self._suspended = bool(self._redis.exists(WORKERS_SUSPENDED))
        except RedisError as error:
            self._miss(error)
        return self._suspended

    def note_suspension(self, is_suspended: bool) -> None:
        """Take the word of somebody who has just looked."""
        self._suspended, self._look_at = is_suspended, time.monotonic() + LOOK_SECONDS

    def listen(self) -> None:
        """Subscribe to RQ's commands, if that is not done yet; RedisError when Redis is away."""
        if self._subscription is None:
            subscription = self._redis.pubsub()
            subscription.subscribe(PUBSUB_CHANNEL_TEMPLATE % self._name)
            self._subscription = subscription

    def obey(self, shut_down: Callable[[], None]) -> None:
        """Follow the commands that have come."""
        if self._subscription is None or time.monotonic() < self._obey_at:
            return
        self._obey_at = time.monotonic() + OBEY_SECONDS
        try:
            while (message := self._subscription.get_message(timeout=0)) is not None:
                if message["type"] == "message" and _command(message["data"]) == "shutdown":
                    shut_down()
        except RedisError:
            self._subscription.close()
            self._subscription = None

    def _miss(self, error: RedisError) -> None:
        log.warning("rq_record_not_written", error=str(error))
        self._away_until = time.monotonic() + AWAY_SECONDS

    def _hash_of(self, job: Reserved) -> dict[str, Any]:
        name = f"{job.mount}/{job.script}" if job.mount else job.script
        return {
            "data": _named(name),
            "description": name,
            "status": "started",
            "created_at": utcformat(now()),
            "started_at": utcformat(now()),
            "origin": "atributo-bells",
            "worker_name": self._name,
        }


def _named(name: str) -> bytes:
    """Return a call of this name without arguments, in the format that RQ's tools expect.

    It is written out here, and never read by us.
    """
    text = name.replace("\\", "/").replace("\n", " ").encode("ascii", "backslashreplace")
    return b"(V%b\nN(t(dt." % text


def _command(data: Any) -> str:
    try:
        command = json.loads(data)["command"]
    except (ValueError, TypeError, LookupError):
        return ""
    return command if isinstance(command, str) else ""
