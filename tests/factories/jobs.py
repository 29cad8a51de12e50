"""Make jobs in every state as rows, which the screens show without a worker."""

import itertools
from datetime import timedelta

import queues
from atributo_site.core.models.clock import database_now
from queues.links.linking import FAR
from queues.logic.ranks import BLOCKED, PAUSED, rank_of
from queues.logic.secret_fields import fingerprint
from queues.models import Queue, QueuedJob, Run, RunLog, Script, Service

_numbers = itertools.count(26111603463755600)
SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "title": "To"},
        "copies": {"type": "integer", "minimum": 1, "default": 1},
        "how": {"enum": ["fast", "slow"], "default": "fast"},
        "loud": {"type": "boolean"},
        "pin": {"type": "string", "x-secret": True},
        "tags": {"type": "array"},
    },
    "required": ["to"],
}


def make_queue(name="mail"):
    queues.create(name, max_workers=2)
    return Queue.objects.get(name=name)


def make_script(mount="/mailer", name="send-mail", schema=SCHEMA):
    service, _ = Service.objects.get_or_create(
        mount=mount, defaults={"folder": "/nowhere", "name": "mailer", "version": "1.0.0"}
    )
    return Script.objects.create(
        service=service, name=name, path="x.py", title="Send Mail", schema=schema
    )


def make_job(queue, status="pending", **fields):
    now = database_now()
    if status in {"complete", "failed"}:
        fields.setdefault("ended_at", now)
    if status == "progress":
        fields.setdefault("slot", queue.slots.first())
        fields.setdefault("started_at", now)
    if "error" in fields:
        fields.setdefault("fingerprint", fingerprint(fields["error"]))
    fields.setdefault("rank", rank_of(0, "sticky_key" in fields))
    names = {"mount": "/mailer", "script": "send-mail", **fields}
    return QueuedJob.objects.create(id=next(_numbers), queue=queue, status=status, **names)


def paused_job(queue, **fields):
    """Make a paused job that repeats and whose moment has passed."""
    return make_job(
        queue, repeat_times=-1, paused_at=database_now(), rank=rank_of(0, False) + PAUSED, **fields
    )


def blocked_job(queue, **fields):
    """Make a job that waits for the end of others."""
    return make_job(queue, due_at=FAR, rank=rank_of(0, False) + BLOCKED, **fields)


def make_run(job, attempt=1, outcome="failed", lines=(), **fields):
    now = database_now()
    run = Run.objects.create(
        job=job,
        attempt=attempt,
        number=1,
        worker="worker-1",
        outcome=outcome,
        started_at=now - timedelta(seconds=2),
        ended_at=None if outcome == "running" else now,
        **fields,
    )
    RunLog.objects.bulk_create(
        RunLog(job=job, attempt=attempt, level="info", text=line) for line in lines
    )
    return run
