"""Debounce: a push replaces the data of the job that waits with its unique key, and its moment.

A job that runs, or is about to, cannot be changed any more. It gives its key up, and the push
becomes a job of its own, so that no push is lost.
"""

from django.db.transaction import atomic

from atributo_site.core.database import dialect, execute
from atributo_site.core.events import record
from queues.errors import JobIsTwice
from queues.jobs.push_request import PushRequest
from queues.models import QueuedJob
from queues.sql import push as sql


def replace_waiting(request: PushRequest, text: str | None, *, is_told: bool) -> int | None:
    """Return the id of the waiting job that has got this data and moment; None without one.

    Its failures are forgiven: they were those of other data.
    """
    d = dialect()
    asked = {
        "queue_id": request.queue_id,
        "queue": request.queue,
        "unique_key": request.options.unique_key,
        "mount": request.mount,
        "script": request.script,
        "data": text,
        "due_at": d.moment(request.options.delay_until),
        "expires_at": d.moment(request.options.expires_at),
        "revision": request.revision,
    }
    with atomic():
        row = execute(sql.replace_waiting(d), asked).first
        if row is None:
            _give_key_up(request)
            return None
        if is_told:
            record("job.debounced", f"job:{row[0]}", unique_key=request.options.unique_key)
    return row[0]


def _give_key_up(request: PushRequest) -> None:
    """Let the key go to the next job, as far as the one that has it is under way."""
    jobs = QueuedJob.objects.unfinished().filter(queue_id=request.queue_id)
    jobs = jobs.filter(unique_key=request.options.unique_key)
    of_script = jobs.filter(mount=request.mount, script=request.script)
    of_script.filter(slot__isnull=False).update(unique_key=None)
    other = jobs.exclude(mount=request.mount, script=request.script).first()
    if other is not None:
        raise JobIsTwice(
            f"job {other.pk} of the script {other.mount}/{other.script} has this unique key, and "
            "only a job of the same script can be replaced",
            job=str(other.pk),
        )
