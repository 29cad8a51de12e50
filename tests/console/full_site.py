"""Fill a site with rows for every screen and markup in every text, and list all addresses."""

from datetime import timedelta

from django.apps import apps
from django.contrib.auth.models import User
from django.db import models
from django.db.models.functions import Now
from django.urls import get_resolver, reverse

import queues
from allocation.atributo import Atributo
from allocation.models import Hold
from allocation.placement import drains
from allocation.transactions import Client
from allocation.transactions.models import Lock, LockWait
from allocation.transactions.models import Transaction as Row
from atributo_site.core.events import Actor, acting, record
from atributo_site.core.models import Lease
from atributo_site.core.models.clock import database_now
from atributo_site.models import Incident
from pools.models import Backend, BackendChange, Pool, PoolSnapshot
from queues.jobs import actions, operations
from queues.jobs.repeating import repeating
from queues.logic.ranks import PAUSED, STICKY
from queues.models import (
    Batch,
    Dependency,
    MinuteCount,
    Operation,
    OperationRefusal,
    QueuedJob,
    Schedule,
    ScheduledRun,
)
from tests.console.every_url import make, walk
from tests.factories.jobs import make_job, make_queue, make_run, make_script
from tests.factories.open_transactions import open_transaction

MARKUP = "<img src=x onerror=alert(1)><b id=injected>"
APPS = ("allocation", "queues", "pools", "atributo_site")
HARMLESS = {  # columns that only the code writes, or that an address must name
    "queues.Service.mount",
    "queues.QueuedJob.mount",
    "queues.QueuedJob.fingerprint",
    "queues.RunLog.level",
    "queues.Schedule.mount",
    "queues.Schedule.zone",
    "pools.Backend.key",
    "pools.Backend.address",
    "pools.BackendChange.key",
    "allocation.IdNumber.holder",  # nobody holds those numbers
    "allocation.DocumentVersion.ref",
    "allocation.JournalEntry.before_ref",
    "allocation.JournalEntry.after_ref",
    "allocation.Document.ref",
}
# A stream and a picture are no pages, and what is followed was asked for with a form.
NOT_BY_LINK = ("events-stream", "pools-follow", "docs-picture")
TEXTS = (models.CharField, models.TextField)


def fill(text=MARKUP):
    """Make rows of every kind with `text` as their names and texts."""
    with acting(Actor(text, "browser")):
        _allocation(text)
        _transactions(text)
        _queues(text)
        _pools(text)
        _incidents(text)
        User.objects.create(username=text[:150], email=text[:254])
        record(text[:64], f"instance:{text}", **{text: [text]})
    Lease.objects.acquire(f"worker/{text}", text, 3600, note=text)
    Lease.objects.acquire("curator", text, 3600, name=text)


def fill_texts(text=MARKUP):
    """Put markup into every other column that holds free text."""
    sticky = {"sticky_key": text, "routed_to": text, "routed_epoch": 1}
    sticky["concurrent"] = True  # all of them have one key
    QueuedJob.objects.awake().update(rank=STICKY, **sticky)
    QueuedJob.objects.filter(paused_at__isnull=False).update(rank=STICKY + PAUSED, **sticky)
    for model in (model for app in APPS for model in apps.get_app_config(app).get_models()):
        names = [field for field in model._meta.fields if _is_free(model, field)]
        if model._meta.managed and names:
            model.objects.update(**{field.name: text[: field.max_length] for field in names})


def _is_free(model, field):
    unique = {name for c in model._meta.constraints for name in getattr(c, "fields", ())}
    keyed = field.unique or field.name in unique or field.choices
    return (
        isinstance(field, TEXTS)
        and not keyed
        and f"{model._meta.app_label}.{model.__name__}.{field.name}" not in HARMLESS
    )


ASKED = {"jobs-bulk": "?action=retry&scope=all"}  # empty without a query


def screens(text=MARKUP):
    """Return the address of every screen by name, for the rows of `fill`."""
    found = [make(path, pattern) for path, pattern in walk(get_resolver(), "/")]
    patterns = {pattern.name: pattern for _, pattern in walk(get_resolver(), "/")}
    samples = _samples(text)
    return {
        url.name: _address(url, patterns[url.name], samples)
        for url in found
        if url.kind == "console"
        and "GET" in url.actions
        and not url.path.startswith("/admin/")
        and url.name not in NOT_BY_LINK
    }


def _address(url, pattern, samples):
    room = url.path.split("/")[1]
    words = {
        name: samples.get((url.name, name)) or samples[(room, name)]
        for name in pattern.pattern.converters
    }
    return reverse(f"atributo:{url.name}", kwargs=words) + ASKED.get(url.name, "")


def _samples(text):
    """Return the value of each parameter, by URL name or first part of the address."""
    failed, pending, complete = (
        str(QueuedJob.objects.filter(status=status).first().pk)
        for status in ("failed", "pending", "complete")
    )
    return {
        ("instances", "instance_id"): text,
        ("allocations", "job_id"): text,
        ("jobs", "job_id"): failed,
        ("job-abort", "job_id"): pending,
        ("job-schedule", "job_id"): str(repeating().filter(status="pending").first().pk),
        ("job-retry", "job_id"): complete,
        ("queues", "name"): text,
        ("batches", "batch_id"): str(Batch.objects.get(state="running").pk),
        ("schedules", "name"): text.replace("/", " "),
        ("pools", "name"): text,
        ("pools", "key"): "10.0.0.1:80",
        ("services", "mount"): "/mailer",
        ("services", "name"): text,
        ("docs", "page"): "queues",
        ("documents", "collection"): text,
        ("documents", "key"): text,
        ("transactions", "pk"): Row.objects.get(status="stuck").pk,
        ("system", "pk"): Operation.objects.first().pk,
        ("system-user", "pk"): User.objects.get(username=text[:150]).pk,
        ("system-user-disable", "pk"): User.objects.get(username=text[:150]).pk,
        ("system-user-reset", "pk"): User.objects.get(username=text[:150]).pk,
        ("incidents", "pk"): Incident.objects.unresolved().first().pk,
        ("lock-release", "pk"): Lock.objects.first().pk,
    }


def _allocation(text):
    ao = Atributo()
    ao.available(text, capacity=4, labels={text: text})
    ao.allocate(text)
    ao.available("web-2", capacity=100)
    ao.allocate_many([f"job{number}" for number in range(8)])
    ao.deallocate("job3")
    drains.drain(text, reason=text, deadline_seconds=3600, moves_per_minute=6)
    Hold.objects.create(instance_id=text, kind="job", key=text)


def _transactions(text):
    client = Client()
    client.put(text, text, {text: text})
    client.put(text, "other", {"balance": 12345678901234567890})
    holder, waiter = open_transaction(client, text), open_transaction(client, text)
    holder.put(text, text, {text: f"{text} changed"})
    lock = Lock.objects.first()
    LockWait.objects.create(document_id=lock.document_id, transaction_id=waiter.id, mode=lock.mode)
    stuck = open_transaction(client, text)
    stuck.put(text, "other", {"balance": 1})
    Row.objects.filter(pk=stuck.id).update(status="stuck", error=text)
    open_transaction(client, text).complete()


def _queues(text):
    make_script(name=text)
    queue = make_queue(text)
    make_queue(f"{text} paused")
    queues.pause(f"{text} paused")
    slots = queue.slots.model.objects  # those of the queue default too
    slots.update(holder=text, leased_until=database_now() + timedelta(hours=1))
    make_job(queue, data={text: text}, repeat_times=-1, repeat_delay_ms=5000, runs=37)
    actions.pause(make_job(queue, repeat_times=3, repeat_delay_ms=5000).pk, reason=text)
    running = make_job(queue, "progress", attempt=1, script=text)
    make_run(running, 1, "running", lines=[text], percent=40.0, note=text)
    make_job(queue, "complete", result={text: 12345678901234567890})
    for number in range(7):
        job = make_job(queue, "failed", script=text, error=f"{text}: {number}", data={"to": text})
    make_run(job, 1, error=text, traceback=f"Traceback {text}" * 5, lines=[text])
    operation = operations.start("retry", {"text": text}, database_now(), reason=text)
    OperationRefusal.objects.create(operation=operation, job_id=job.pk, reason=text)
    _schedules(text, queue)
    _batches(text, queue)
    now = database_now().replace(second=0, microsecond=0)
    for ago in (1, 7, 30, 600):
        minute = now - timedelta(minutes=ago)
        MinuteCount.objects.create(
            queue=queue, minute=minute, complete=ago, failed=1, started=ago + 1, wait_1=ago, run_2=1
        )


def _batches(text, queue):
    facts = {"queue": queue, "name": text[:255], "created_by": text[:255]}
    Batch.objects.create(id=1, **facts)
    batch = Batch.objects.create(id=2, state="running", closed_at=Now(), **facts)
    first, second = (make_job(queue, batch_id=batch.pk) for _ in range(2))
    Dependency.objects.create(job_id=second.pk, after_id=first.pk)


def _schedules(text, queue):
    name = text.replace("/", " ")  # no address of a schedule has a slash
    facts = {"mount": "/mailer", "script": text[:128], "data": {text: text}, "queue": queue}
    facts |= {"rule": {"cron": "@daily"}, "created_by": text, "service": text}
    for each in ("", " paused"):
        later = database_now() + timedelta(hours=1)
        schedule = Schedule.objects.create(name=f"{name}{each}", next_at=later, **facts)
    pause = {"paused_at": database_now(), "paused_by": text, "pause_reason": text}
    Schedule.objects.filter(pk=schedule.pk).update(**pause)
    for hours, state in enumerate(("missed", "skipped")):
        ScheduledRun.objects.create(
            schedule=Schedule.objects.exclude(pk=schedule.pk).get(name=name),
            slot_at=database_now() - timedelta(hours=hours),
            start_by=database_now(),
            state=state,
            reason=text,
        )


def _incidents(text):
    facts = {"severity": "warning", "title": text, "detail": text, "command": text, "note": text}
    facts |= {"affected": text, "acknowledged_by": text}
    Incident.objects.create(kind="test.open", subject=f"queue:{text}", **facts)
    ended = {"resolved_at": database_now(), "acknowledged_at": database_now()}
    Incident.objects.create(kind="test.over", subject=f"instance:{text}", **facts, **ended)


def _pools(text):
    pool = Pool.objects.create(name=text, domain="svc.example", state="running")
    Backend.objects.create(
        pool=pool, key="10.0.0.1:80", name=text, address="10.0.0.1", port=80, reason=text
    )
    BackendChange.objects.create(pool=pool, kind="added", key="10.0.0.1:80", backend=text)
    backends = {"k": {"name": text, "address": "10.0.0.1", "port": 80}}
    slots = {"k": {"idle": 1, "busy": 1}}
    told = {"state": "running", "backends": backends, "connections": slots, "options": {}}
    PoolSnapshot.objects.create(process=text, body={"pool": {text: told}})
