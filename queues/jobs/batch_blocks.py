"""Collect the pushes of a `with queue.batch(...)` block, and store all of them or none."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Any

from django.db.models.functions import Now
from django.db.transaction import atomic

from atributo_site.core.after_commit import after_commit
from atributo_site.core.database import dialect, execute
from atributo_site.core.events import record
from atributo_site.core.retry import surely
from queues.errors import BadBatch, BadPush, BatchIsClosed, JobIsTwice, QueueNotFound
from queues.jobs import batches, push_request
from queues.jobs.calls import called, called_often
from queues.jobs.push import insert_many, parts_of, ring_after_commit
from queues.jobs.push_request import Definition, PushRequest, checked_push
from queues.links import linking
from queues.links.graphs import circle
from queues.logic.options import BadOption, job_number, key
from queues.models import Batch, Queue, QueuedJob
from queues.runs import outbox
from queues.runs.callbacks import end_batch, settle_blocked
from queues.runs.ids import get_job_ids
from queues.sql import push as push_sql


@dataclass(slots=True)
class Entry:
    """One push of a block; it becomes a job with this id."""

    id: int
    request: PushRequest
    text: str | None
    after: tuple[Any, ...] = ()  # ids and labels
    before: tuple[int, ...] = ()  # the same as ids, once all labels are known

    @property
    def link(self) -> list[tuple[int, int, bool]]:
        anyway = self.request.options.even_if_failed
        return [(self.id, before, anyway) for before in self.before]


class Block:
    """The jobs of a batch while they are collected; nothing is stored before the block ends well.

    A label names a job inside the block, so that jobs can wait for others that come later.
    """

    def __init__(self, queue: str, name: str = "", done: Any = None, failed: Any = None) -> None:
        self.queue = queue
        self._batch = batches.new(queue, name, done, failed)
        self._entries: list[Entry] = []
        self._labels: dict[str, int] = {}
        self._definitions: dict[tuple[str, ...], Definition] = {}
        self._is_over = False

    def __repr__(self) -> str:
        return f"<batch {self.id}>"

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def id(self) -> str:
        return str(self._batch.pk)

    def __enter__(self) -> "Block":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if kind is None:
            self.store()
        self._is_over = True
        self._entries = []

    def push(self, script: Any, *arguments: Any, label: str | None = None, **options: Any) -> str:
        """Add a job of the batch's queue, as `queue.push` takes it; return the id it will have."""
        call = called(script, arguments, options)
        return self.collect(self.queue, call.script, [call.data], call.options, label)[0]

    def push_many(self, script: Any, datas: Sequence[Any], **options: Any) -> list[str]:
        call = called_often(script, datas, options)
        return self.collect(self.queue, call.script, call.data, call.options)

    def collect(
        self,
        queue: str,
        script: Any,
        datas: Sequence[Any],
        given: Mapping[str, Any],
        label: str | None = None,
    ) -> list[str]:
        """Check pushes and keep them until the block ends."""
        if self._is_over:
            raise BatchIsClosed(f"batch {self.id} is closed and takes no more jobs", batch=self.id)
        if outbox.holder() is not None:
            raise BadPush("batch and after cannot wait for a transaction: push without one")
        options = {name: value for name, value in given.items() if name not in {"batch", "after"}}
        after = _listed(given.get("after"))
        anyway = options.pop("even_if_failed", False) if after else False
        request = checked_push(queue, script, {**options, "batch": self.id}, self._define)
        if anyway:
            request = replace(request, options=replace(request.options, even_if_failed=True))
        request = self._shared(request)
        if request.options.unique_key is not None and len(datas) > 1:
            raise BadPush("unique_key cannot be shared by many jobs")
        texts = [request.text(data) for data in datas]
        ids = get_job_ids(len(texts))
        self._name(label, ids)
        pairs = zip(ids, texts, strict=True)
        self._entries += [Entry(job_id, request, text, after) for job_id, text in pairs]
        return [str(job_id) for job_id in ids]

    def _define(self, *names: str) -> Definition:
        """Read each definition once for all pushes of the block."""
        if names not in self._definitions:
            self._definitions[names] = push_request.fresh(*names)
        return self._definitions[names]

    def _shared(self, request: PushRequest) -> PushRequest:
        """Let equal pushes that follow each other share what they have in common."""
        last = self._entries[-1].request if self._entries else None
        return last if last is not None and last == request else request

    def _name(self, label: str | None, ids: list[int]) -> None:
        if label is None:
            return
        try:
            key("label", label)
        except BadOption as error:
            raise BadPush(str(error)) from error
        if label in self._labels:
            raise BadPush(f"two jobs of this batch have the label {label!r}")
        self._labels[label] = ids[0]

    def store(self) -> Batch:
        """Store the batch with all of its jobs, or nothing."""
        self._resolve()
        self._is_over = True
        found = Batch.objects.filter(pk=self._batch.pk)
        return surely(self._store, lambda: found.first())

    def _resolve(self) -> None:
        """Turn labels into ids; refuse unknown ones, and jobs that wait for each other."""
        for entry in self._entries:
            entry.before = tuple(sorted({self._id_of(each) for each in entry.after}))
        ring = circle({each.id: each.before for each in self._entries if each.before})
        if ring:
            named = {job_id: label for label, job_id in self._labels.items()}
            said = " after ".join(str(named.get(job_id, job_id)) for job_id in ring)
            raise BadBatch(f"these jobs wait for each other, so that none could start: {said}")

    def _id_of(self, given: Any) -> int:
        if isinstance(given, str) and given in self._labels:
            return self._labels[given]
        try:
            return job_number("after", given)
        except BadOption as error:
            why = f"after names {given!r}, which is neither a job nor a label here"
            raise BadPush(why) from error

    def _store(self) -> Batch:
        batch = self._batch
        own = {entry.id for entry in self._entries}
        links = [link for entry in self._entries for link in entry.link]
        with atomic():
            self._check_queues()
            outside = sorted({before for _, before, _ in links} - own)
            if outside:
                linking.must_wait(outside)
            batch.state, batch.closed_at = Batch.State.RUNNING, Now()
            batch.save(force_insert=True)
            for request, entries in self._groups().items():
                self._insert(request, entries)
            if links:
                linking.store(links)
                after_commit(partial(settle_blocked, [e.id for e in self._entries if e.before]))
            facts: dict[str, Any] = {"jobs": len(self._entries), "queue": self.queue}
            record("batch.pushed", f"batch:{batch.pk}", **facts, name=batch.name)
            after_commit(partial(end_batch, batch.pk))
        return batch

    def _check_queues(self) -> None:
        """Refuse if a queue was deleted meanwhile."""
        names = {entry.request.queue for entry in self._entries} | {self.queue}
        there = set(Queue.objects.existing().filter(name__in=names).values_list("name", flat=True))
        for name in sorted(names - there):
            raise QueueNotFound(f"Queue does not exist: {name}", queue=name)

    def _groups(self) -> dict["_Group", list[Entry]]:
        """Put together what one statement stores, each group in the order of push."""
        groups: dict[_Group, list[Entry]] = {}
        facts: dict[int, str] = {}
        for entry in self._entries:
            request = entry.request
            if id(request) not in facts:
                facts[id(request)] = json.dumps(request.row(None, None), sort_keys=True)
            group = _Group(facts[id(request)], bool(entry.before), request.options.unique_key)
            groups.setdefault(group, []).append(entry)
        return groups

    def _insert(self, group: "_Group", entries: list[Entry]) -> None:
        request = entries[0].request
        row = request.in_flow(request.row(None, None))
        row = linking.columns(row, self._batch.pk, blocked=group.blocked)
        ids = [entry.id for entry in entries]
        if group.unique_key is not None:
            _insert_once(row, entries[0])
        else:
            texts = [entry.text for entry in entries]
            for part in parts_of(texts):
                insert_many(row, ids[part], texts[part], linked=True)
        if not group.blocked:
            ring_after_commit(request, ids, row["flow_id"])


@dataclass(frozen=True)
class _Group:
    facts: str
    blocked: bool
    unique_key: str | None


def _insert_once(row: dict[str, Any], entry: Entry) -> None:
    facts = {**row, "id": entry.id, "data": entry.text}
    if not execute(push_sql.push(dialect(), once=True, linked=True), facts).rows:
        taken = QueuedJob.objects.unfinished().filter(unique_key=row["unique_key"]).first()
        raise JobIsTwice(
            f"an unfinished job has the unique key {row['unique_key']!r}: the batch is not stored",
            job=str(taken.pk) if taken else "",
        )


def _listed(after: Any) -> tuple[Any, ...]:
    if after is None:
        return ()
    if isinstance(after, str) or not isinstance(after, Iterable):
        raise BadPush(f"after must be a list of ids or labels of jobs, not {after!r}")
    return tuple(getattr(each, "id", each) for each in after)
