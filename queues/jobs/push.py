"""Push jobs: check them, store them, ring for a worker."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.db.transaction import atomic

from atributo_site.core.after_commit import after_commit
from atributo_site.core.availability.patience import in_a_hurry
from atributo_site.core.database import dialect, execute
from atributo_site.core.errors import AtributoError
from atributo_site.core.retry import surely
from queues.errors import BadPush, DataRefused
from queues.flow import flows
from queues.jobs import push_request
from queues.jobs.debounce import replace_waiting
from queues.jobs.push_request import Define, PushRequest, checked_push
from queues.jobs.routing import route_key
from queues.links import linking
from queues.logic.ranks import is_blocked
from queues.models import Queue, QueuedJob
from queues.runs import outbox, turns
from queues.runs.callbacks import settle_blocked
from queues.runs.doorbell import MESSAGE_SECONDS, RING_AGAIN_SECONDS, call, ring, ring_ahead
from queues.runs.ids import get_job_ids
from queues.runs.slots import next_job
from queues.sql import push as push_sql

CHUNK = 5000
LARGEST_STATEMENT = 16 * 1024 * 1024  # characters of data
TRIES = 3
Tell = Callable[[list[int]], object]


def push(
    queue: str,
    script: Any,
    data: Any,
    given: Mapping[str, Any],
    *,
    tell: Tell | None = None,
) -> str:
    """Store a job; return its id, or that of the unfinished job with the same unique key.

    `tell` records what is new, in the database transaction that stores it.
    """
    with in_a_hurry(settings.ATRIBUTO.push_timeout_ms):
        return _push(_Order(queue, script, data, given), tell)


def _push(order: "_Order", tell: Tell | None) -> str:
    holder = outbox.holder()
    if holder is not None:
        request, text = order.checked(push_request.fresh)
        if request.options.debounce:
            raise BadPush("debounce cannot wait for a transaction: push without one")
        _check_unlinked(request)
        duplicate = _unfinished_duplicate(request)
        return str(duplicate) if duplicate else _hold(request, [text], holder, tell)[0]
    request, text = order.checked_by_memory()
    if request.counts():  # the flow is made before the row tells whether memory was right
        request, text = order.checked(push_request.fresh)
    new = get_job_ids(1)[0]
    for _ in range(TRIES):  # the script may change, and the job with the same key end, meanwhile
        if request.options.debounce and (waiting := _debounced(request, text, tell)) is not None:
            return str(waiting)
        insert = partial(_insert if tell is None else partial(_tell_of, tell), request, text, new)
        job_id = surely(insert, partial(_stored, [new]))
        if job_id is None and not request.options.debounce:  # that one is looked for again
            job_id = _unfinished_duplicate(request)
        if job_id is not None:
            return str(job_id)
        request, text = order.checked(push_request.fresh)
    raise BadPush("the job could not be stored; try again")


def _debounced(request: PushRequest, text: str | None, tell: Tell | None) -> int | None:
    """Return the waiting job that this push has replaced, if there is one."""
    waiting = replace_waiting(request, text, is_told=tell is not None)
    if waiting is not None:
        of_job = QueuedJob.objects.filter(pk=waiting).values_list("flow_id", flat=True)
        ring_after_commit(request, [waiting], of_job.first())
    return waiting


class _Order(NamedTuple):
    """What a caller asks for."""

    queue: str
    script: Any
    data: Any
    given: Mapping[str, Any]

    def checked(self, define: Define) -> tuple[PushRequest, str | None]:
        request = checked_push(self.queue, self.script, self.given, define)
        return request, request.text(self.data)

    def checked_by_memory(self) -> tuple[PushRequest, str | None]:
        """Check by the definition in memory, and once more by a fresh one if that refuses.

        That the definition in memory is out of date is noticed by the database when it stores the
        job.
        """
        try:
            return self.checked(push_request.known)
        except AtributoError:
            return self.checked(push_request.fresh)


def push_many(
    queue: str,
    script: Any,
    datas: Sequence[Any],
    given: Mapping[str, Any],
    *,
    tell: Tell | None = None,
) -> list[str]:
    """Store all of them in the order given, or none."""
    with in_a_hurry(settings.ATRIBUTO.push_timeout_ms):
        return _push_many(queue, script, datas, given, tell)


def _push_many(
    queue: str,
    script: Any,
    datas: Sequence[Any],
    given: Mapping[str, Any],
    tell: Tell | None,
) -> list[str]:
    request = checked_push(queue, script, given, push_request.fresh)
    if request.options.unique_key is not None:
        raise BadPush("unique_key cannot be shared by many jobs")
    texts = [_text_of(request, datas, number) for number in range(len(datas))]
    holder = outbox.holder()
    if holder is not None:
        _check_unlinked(request)
        return _hold(request, texts, holder, tell)
    ids = get_job_ids(len(texts))
    surely(partial(_insert_all, request, ids, texts, tell), partial(_stored, ids))
    return [str(job_id) for job_id in ids]


def _stored(ids: list[int]) -> int | None:
    """Return the first of jobs that are stored together, if they are stored."""
    there = QueuedJob.objects.filter(pk__in=ids[:1])
    return there.values_list("id", flat=True).first()


def _insert_all(
    request: PushRequest, ids: list[int], texts: list[str | None], tell: Tell | None
) -> int | None:
    with atomic():
        shared = request.in_flow(request.row(None, None))
        linked = request.options.is_linked()
        shared = _linked(request, shared) if linked else shared
        for part in parts_of(texts):
            insert_many(shared, ids[part], texts[part], linked=linked)
        if tell is not None and ids:
            tell(ids)
        _link(request, ids, shared)
    return ids[0] if ids else None


def _text_of(request: PushRequest, datas: Sequence[Any], number: int) -> str | None:
    try:
        return request.text(datas[number])
    except (BadPush, DataRefused) as error:
        which = f"number {number + 1} of {len(datas)}"
        raise type(error)(f"{which}: {error}", **error.facts) from error


def _hold(
    request: PushRequest, texts: list[str | None], transaction: int, tell: Tell | None
) -> list[str]:
    """Keep pushes that become jobs with these ids when the transaction completes."""
    ids = get_job_ids(len(texts))
    flow = request.in_flow(request.row(None, None))
    same = {name: flow[name] for name in ("flow_id", "flow_key", "rank")}
    pairs = zip(ids, texts, strict=True)
    rows = [{**request.row(job_id, text), **same} for job_id, text in pairs]

    def keep() -> bool:
        with atomic():
            outbox.keep(transaction, rows)
            if tell is not None and ids:
                tell(ids)
        return True

    surely(keep, lambda: outbox.is_kept(ids) or None)
    return [str(job_id) for job_id in ids]


def _tell_of(tell: Tell, request: PushRequest, text: str | None, job_id: int) -> int | None:
    with atomic():
        stored = _insert(request, text, job_id)
        if stored is not None:
            tell([stored])
    return stored


def _insert(request: PushRequest, text: str | None, job_id: int) -> int | None:
    """Store a job; None when its definition is out of date, or its unique key or id is taken."""
    if request.options.is_linked():
        return _insert_linked(request, text, job_id)
    facts = request.in_flow(request.row(job_id, text))
    facts |= {"queue": request.queue, "revision": request.revision}
    if request.for_anybody() and connection.get_autocommit():
        at_once = connection.vendor == "postgresql"
        return (_insert_and_ring if at_once else _insert_and_look)(request, facts)
    statement = push_sql.push_known(dialect())
    stored = execute(statement, facts).first
    if stored is None:
        return None
    ring_after_commit(request, [stored[0]], facts["flow_id"])
    return stored[0]


def _insert_linked(request: PushRequest, text: str | None, job_id: int) -> int | None:
    """Store a job of a batch, or one that waits for others."""
    with atomic():
        facts = _linked(request, request.in_flow(request.row(job_id, text)))
        asked = {**facts, "queue": request.queue, "revision": request.revision}
        stored = execute(push_sql.push_known(dialect(), linked=True), asked).first
        if stored is None:
            return None
        _link(request, [job_id], facts)
    return job_id


def _linked(request: PushRequest, row: dict[str, Any]) -> dict[str, Any]:
    """Add the batch, which must be open, and block the job if it has to wait for others."""
    options = request.options
    if options.batch is not None:
        linking.check_open(options.batch)
    blocked = bool(options.after) and linking.must_wait(options.after)
    return linking.columns(row, options.batch, blocked=blocked)


def _link(request: PushRequest, ids: list[int], row: dict[str, Any]) -> None:
    """Store what these jobs wait for; call workers if that is nothing."""
    after, anyway = request.options.after, request.options.even_if_failed
    if after:
        linking.store([(job_id, before, anyway) for job_id in ids for before in after])
    if is_blocked(row["rank"]):
        after_commit(partial(settle_blocked, ids))
    else:
        ring_after_commit(request, ids, row["flow_id"])


def _check_unlinked(request: PushRequest) -> None:
    if request.options.is_linked():
        raise BadPush("batch and after cannot wait for a transaction: push without one")


def _insert_and_look(request: PushRequest, facts: dict[str, Any]) -> int | None:
    """Store a job in one round trip; ring if somebody is to be called."""
    facts["ring_again_seconds"] = -RING_AGAIN_SECONDS
    stored = execute(push_sql.push_and_look(dialect()), facts).first
    if stored is None:
        return None
    job_id, is_free = stored
    follow = _ring if is_free else _ring_ahead
    after_commit(partial(follow, request, [job_id]))
    return job_id


def _insert_and_ring(request: PushRequest, facts: dict[str, Any]) -> int | None:
    """Store a job and the slot that is rung for it, in one round trip."""
    facts |= {"ring_again_seconds": -RING_AGAIN_SECONDS, "message_seconds": -MESSAGE_SECONDS}
    facts["slots"] = 1
    statement = push_sql.push_and_ring(dialect())
    stored = execute(statement, facts).first
    if stored is None:
        return None
    after_commit(partial(_call, request, *stored))
    return stored[0]


def _call(
    request: PushRequest, job_id: int, slot_id: int | None, number: int, idle: bool, watched: bool
) -> None:
    """Ring at the slot that the statement of a push has chosen."""
    if slot_id is not None:
        call(request.queue_id, request.queue, [(slot_id, number)], first=idle)
    elif not watched:  # whoever has just freed a slot saw no job, and the statement no free slot
        ring(request.queue_id, request.queue)
    _ring_ahead(request, [job_id])


def _unfinished_duplicate(request: PushRequest) -> int | None:
    if request.options.unique_key is None:
        return None
    jobs = QueuedJob.objects.unfinished()
    same = jobs.filter(queue__in=Queue.objects.existing().filter(name=request.queue))
    same = same.filter(unique_key=request.options.unique_key)
    return same.values_list("id", flat=True).first()


def parts_of(texts: list[str | None]) -> Iterator[slice]:
    """Cut the pushes into what one statement takes: hundreds of megabytes are too much."""
    begin = size = 0
    for number, text in enumerate(texts):
        size += len(text or "")
        if number - begin >= CHUNK or (size > LARGEST_STATEMENT and number > begin):
            yield slice(begin, number)
            begin, size = number, len(text or "")
    if texts:
        yield slice(begin, len(texts))


def insert_many(
    shared: dict[str, Any], ids: list[int], texts: list[str | None], *, linked: bool = False
) -> None:
    """Store jobs that differ in id and data only."""
    d = dialect()
    if d.vendor == "postgresql":
        given = {"ids": ids, "texts": texts}
    else:
        pairs = list(zip(ids, texts, strict=True))
        given = {"rows": json.dumps(pairs, ensure_ascii=False)}
    execute(push_sql.push_many(d, linked=linked), {**shared, **given})


def ring_after_commit(request: PushRequest, ids: list[int], flow_id: int | None = None) -> None:
    if not ids:
        return
    if flow_id is not None:
        after_commit(partial(_wake, request, ids, flow_id))
    elif request.options.sticky_key is not None:
        after_commit(partial(_send, request, ids))
    elif request.due_now():
        after_commit(partial(_ring, request, ids))


def _wake(request: PushRequest, ids: list[int], flow_id: int) -> None:
    if flows.wake(request.queue_id, [flow_id]):
        ring(request.queue_id, request.queue, min(len(ids), 1000))


def _ring(request: PushRequest, ids: list[int]) -> None:
    jobs = min(len(ids), 1000)
    ring(request.queue_id, request.queue, jobs)
    _ring_ahead(request, ids)


def _ring_ahead(request: PushRequest, ids: list[int], station: str = "") -> None:
    """Ring at once for a job that outranks what its queue has waiting."""
    if request.options.priority <= 0:
        return
    if next_job(request.queue_id, request.options.priority, station=station) in ids:
        ring_ahead(request.queue_id, request.queue, station=station)


def _send(request: PushRequest, ids: list[int]) -> None:
    """Route jobs to the instance of their key; the curator routes what cannot be routed now."""
    key = request.options.sticky_key or ""
    instance_id = route_key(key, ids)
    may_start = not request.is_serial() or turns.pass_on(request.queue_id, [key])
    if instance_id is not None and request.due_now() and may_start:
        ring(request.queue_id, request.queue, station=instance_id)
        _ring_ahead(request, ids, instance_id)
