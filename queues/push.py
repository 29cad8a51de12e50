"""Push: check a job, store it, ring."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.db import connections
from django.db.transaction import atomic, on_commit

from allocation.events import current_actor
from allocation.logic.ids import refusal
from allocation.models.clock import database_now
from queues import outbox, sql
from queues.dialect import dialect
from queues.errors import BadPush, QueueNotFound
from queues.ids import get_job_ids
from queues.logic.options import BadOption, Options, resolve, script_error
from queues.logic.ranks import rank_of
from queues.logic.storable import DEEPEST, has_nul, is_too_deep, json_refusal
from queues.models import QueuedJob
from queues.ring import ring
from queues.routes import send_one_key
from queues.schema import check, schema_error
from queues.statements import hot_cursor

LARGEST_DATA = 1024 * 1024
CHUNK = 5000
EPOCH = datetime.fromtimestamp(0, tz=UTC)


@dataclass(frozen=True)
class Prepared:
    """Everything about a job but its id and data."""

    queue_id: int
    queue: str
    mount: str
    script: str
    schema: dict[str, Any] | None
    preprocess: Callable[[Any], Any] | None
    options: Options
    using: str

    def text(self, data: Any) -> str | None:
        """The data as it is stored, or an error and nothing is."""
        checked = check(self.schema, data)
        if self.preprocess is not None:
            checked = self.preprocess(checked)
        return None if checked is None else json_text(checked)

    def due_now(self) -> bool:
        return self.options.delay_until is None

    def row(self, job_id: int | None, text: str | None) -> list[Any]:
        """In the order of sql.PUSHED."""
        o = self.options
        d = dialect(self.using)
        return [
            job_id,
            self.queue_id,
            self.mount,
            self.script,
            text,
            rank_of(o.priority, o.sticky_key is not None),
            d.moment(o.delay_until),
            current_actor().name,
            o.max_failures,
            o.repeat_times,
            d.moment(o.repeat_until),
            o.repeat_delay,
            json.dumps(o.back_off),
            o.timeout,
            _json(o.success),
            _json(o.failure),
            o.unique_key,
            o.sticky_key,
            None,
            None,
            False,
        ]


def push(queue: str, script: Any, data: Any, given: Mapping[str, Any], *, using: str) -> str:
    """The new job's id, or that of the unfinished job with the same unique key."""
    prepared = prepare(queue, script, given, using=using)
    text = prepared.text(data)
    holder = outbox.holder()
    if holder is not None:
        return _hold(prepared, [text], holder)[0]
    job_id = _insert(prepared, text)
    _ring_after_commit(prepared, [job_id])
    return str(job_id)


def push_many(
    queue: str, script: Any, datas: Sequence[Any], given: Mapping[str, Any], *, using: str
) -> list[str]:
    """All or none, in the order given."""
    prepared = prepare(queue, script, given, using=using)
    if prepared.options.unique_key is not None:
        raise BadPush("unique_key cannot be shared by many jobs")
    texts = [prepared.text(data) for data in datas]
    holder = outbox.holder()
    if holder is not None:
        return _hold(prepared, texts, holder)
    ids = get_job_ids(len(texts))
    with atomic(using=using):
        for begin in range(0, len(texts), CHUNK):
            _insert_many(prepared, ids[begin : begin + CHUNK], texts[begin : begin + CHUNK])
        _ring_after_commit(prepared, ids)
    return [str(job_id) for job_id in ids]


def _hold(prepared: Prepared, texts: list[str | None], transaction: int) -> list[str]:
    """They become jobs with these ids when the transaction completes."""
    if prepared.options.unique_key is not None and (twin := _unfinished_twin(prepared)):
        return [str(twin)]
    ids = get_job_ids(len(texts))
    rows = [prepared.row(job_id, text) for job_id, text in zip(ids, texts, strict=True)]
    outbox.keep(transaction, rows)
    return [str(job_id) for job_id in ids]


def prepare(queue: str, script: Any, given: Mapping[str, Any], *, using: str) -> Prepared:
    if not script:
        raise BadPush("Must pass a job type!")
    if not isinstance(script, Mapping) or not {"mount", "name"} <= set(script):
        raise BadPush("a script is named by its mount and name")
    mount, name = script["mount"], script["name"]
    if reason := script_error(mount, name):
        raise BadPush(reason)
    own_schema = _checked_schema(script)
    queue_id, schema, defaults = _found(queue, mount, name, using)
    own = {k: v for k, v in script.items() if k not in {"mount", "name", "schema", "preprocess"}}
    options = _options(given, own, defaults)
    return Prepared(
        queue_id,
        queue,
        mount,
        name,
        own_schema or schema,
        script.get("preprocess"),
        options,
        using,
    )


def _options(*layers: Mapping[str, Any]) -> Options:
    delayed = any("delay" in layer for layer in layers)
    try:
        options = resolve(database_now() if delayed else EPOCH, *layers)
    except BadOption as error:
        raise BadPush(str(error)) from error
    if options.sticky_key is not None and (reason := refusal(options.sticky_key)):
        raise BadPush(f"sticky_key cannot be allocated: {reason}")
    return options


def _checked_schema(script: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema that the script's dict carries; what it carries must work."""
    preprocess, schema = script.get("preprocess"), script.get("schema")
    if preprocess is not None and not callable(preprocess):
        raise BadPush("preprocess must be a function")
    if schema is None:
        return None
    if not isinstance(schema, dict):
        raise BadPush("schema must be an object")
    if reason := json_refusal(schema) or schema_error(schema):
        raise BadPush(f"schema: {reason}")
    return schema


def _found(queue: str, mount: str, name: str, using: str) -> tuple[int, Any, dict[str, Any]]:
    """The queue's number, and schema and defaults of the script if it is installed."""
    with hot_cursor(using) as cursor:
        cursor.execute(sql.FIND_SCRIPT, [mount, name, queue])
        row = cursor.fetchone()
    if row is None:
        raise QueueNotFound(f"Queue does not exist: {queue}", queue=queue)
    queue_id, schema, defaults = row
    return queue_id, json.loads(schema or "null"), json.loads(defaults or "{}")


def _insert(prepared: Prepared, text: str | None) -> int:
    once = prepared.options.unique_key is not None
    statement = sql.push(dialect(prepared.using), once=once)
    for _ in range(3):  # the job with the same key may end while we look
        row = prepared.row(get_job_ids(1)[0], text)
        with hot_cursor(prepared.using) as cursor:
            cursor.execute(statement, row)
            stored = cursor.fetchone()
        if stored is not None:
            return stored[0]
        twin = _unfinished_twin(prepared)
        if twin is not None:
            return twin
    raise BadPush("the job could not be stored; try again")


def _unfinished_twin(prepared: Prepared) -> int | None:
    jobs = QueuedJob.objects.using(prepared.using).unfinished()
    same = jobs.filter(queue_id=prepared.queue_id, unique_key=prepared.options.unique_key)
    return same.values_list("id", flat=True).first()


def _insert_many(prepared: Prepared, ids: list[int], texts: list[str | None]) -> None:
    d = dialect(prepared.using)
    with connections[prepared.using].cursor() as cursor:
        if d.vendor == "postgresql":
            shared = prepared.row(None, None)
            del shared[4], shared[0]  # data and id come from the arrays
            cursor.execute(sql.push_many_postgresql(d), [*shared, ids, texts])
            return
        rows = [prepared.row(job_id, text) for job_id, text in zip(ids, texts, strict=True)]
        cursor.executemany(sql.push_one_of_many(d), rows)


def _ring_after_commit(prepared: Prepared, ids: list[int]) -> None:
    if not ids:
        return
    if prepared.options.sticky_key is not None:
        on_commit(partial(_send, prepared, ids), using=prepared.using, robust=True)
    elif prepared.due_now():
        call = partial(
            ring, prepared.queue_id, prepared.queue, min(len(ids), 1000), using=prepared.using
        )
        on_commit(call, using=prepared.using, robust=True)


def _send(prepared: Prepared, ids: list[int]) -> None:
    """To the instance of their key; what cannot be sent now is sent by the curator."""
    instance_id = send_one_key(prepared.options.sticky_key or "", ids, prepared.using)
    if instance_id is not None and prepared.due_now():
        ring(prepared.queue_id, prepared.queue, station=instance_id, using=prepared.using)


def json_text(value: Any) -> str:
    """Strict JSON: no NaN, no NUL, nothing that the database would refuse later."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadPush(f"data must be JSON: {error}") from error
    if has_nul(text):
        raise BadPush("data must not contain the NUL character")
    if is_too_deep(value, text):
        raise BadPush(f"data must be nested at most {DEEPEST} levels deep")
    if len(text) > LARGEST_DATA:
        raise BadPush(f"data must be at most {LARGEST_DATA} characters of JSON")
    return text


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)
