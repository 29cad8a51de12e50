"""Check everything about a push but its id and data.

What a push must know of its queue and script is kept in memory with its revision.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from atributo_site.core.database import dialect, execute
from atributo_site.core.events import current_actor
from atributo_site.core.ids import refusal
from atributo_site.core.models.clock import database_now
from atributo_site.core.retry import retry_busy
from queues.errors import BadPush, QueueNotFound, ScriptNotFound
from queues.flow import flows
from queues.functions.arguments import of_data
from queues.functions.declaration import Declared, bare
from queues.functions.modules import checked, find, to_push
from queues.functions.rows import store_module
from queues.logic.flow.limits import BadLimit, parsed, stored
from queues.logic.mounts import is_module
from queues.logic.options import BadOption, Options, resolve, script_error
from queues.logic.options import reference as read_reference
from queues.logic.ranks import FLOW, rank_of
from queues.logic.storable import DEEPEST, has_nul, is_too_deep, json_refusal
from queues.schema.validation import check, schema_error
from queues.sql import push

MOST_KNOWN = 1000
LARGEST_DATA = 1024 * 1024
CODE = {"success", "failure", "back_off"}
EPOCH = datetime.fromtimestamp(0, tz=UTC)


@dataclass(frozen=True, slots=True)
class Definition:
    """A queue and its script; the script's part is empty while it is not installed."""

    queue_id: int
    schema: dict[str, Any] | None
    defaults: dict[str, Any]
    revision: int  # of the installed services
    has_flow: bool = False  # flow control decides about the queue or the script


_known: dict[tuple[str, ...], Definition] = {}


def known(queue: str, mount: str, script: str) -> Definition:
    """Return a definition that may be out of date: storing the job compares the revision."""
    return _known.get((queue, mount, script)) or fresh(queue, mount, script)


def fresh(queue: str, mount: str, script: str) -> Definition:
    named = {"queue": queue, "mount": mount, "script": script}
    row = retry_busy(lambda: execute(push.FIND_SCRIPT, named).first, repeatable=True)
    if row is None:
        raise QueueNotFound(f"Queue does not exist: {queue}", queue=queue)
    queue_id, schema, defaults, revision, has_flow = row
    definition = Definition(
        queue_id,
        json.loads(schema or "null"),
        json.loads(defaults or "{}"),
        revision,
        bool(has_flow),
    )
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known[queue, mount, script] = definition
    return definition


Define = Callable[[str, str, str], Definition]


@dataclass(frozen=True)
class PushRequest:
    queue_id: int
    queue: str
    revision: int
    mount: str
    script: str
    schema: dict[str, Any] | None
    preprocess: Callable[[Any], Any] | None
    options: Options
    function: Declared | None = None  # where no script of a service runs
    has_flow: bool = False

    def text(self, data: Any) -> str | None:
        """Check the data and return it as it is stored."""
        if self.function is not None:
            data = of_data(self.function, data)
        fitting = check(self.schema, data)
        if self.preprocess is not None:
            fitting = self.preprocess(fitting)
        return None if fitting is None else json_text(fitting)

    def due_now(self) -> bool:
        return self.options.delay_until is None

    def for_anybody(self) -> bool:
        """Return whether any worker may start it now."""
        return self.options.sticky_key is None and self.due_now() and not self.is_in_flow()

    def counts(self) -> bool:
        """Return whether flow control decides when it starts."""
        return self.has_flow or bool(self.options.flow_key or self.options.limits)

    def is_in_flow(self) -> bool:
        """Return whether it waits in a flow at once; a sticky job waits for its key first."""
        return self.options.sticky_key is None and self.counts()

    def in_flow(self, row: dict[str, Any]) -> dict[str, Any]:
        """Add the flow that it waits in, which is made if it is the first."""
        if not self.counts():
            return row
        if self.options.sticky_key is not None:
            return self._with_flow_key(row)
        key = self.options.flow_key or ""
        flow_id = flows.ensure(self.queue_id, key, self.mount, self.script)
        return {**row, "flow_id": flow_id, "flow_key": key, "rank": row["rank"] + FLOW}

    def _with_flow_key(self, row: dict[str, Any]) -> dict[str, Any]:
        """Add what a sticky job counts for. Whoever reserves it at its instance finds its flow."""
        flows.ensure_gate(self.queue_id)
        return {**row, "flow_key": self.options.flow_key}

    def is_serial(self) -> bool:
        """Return whether it waits for the turn of its sticky key."""
        return self.options.sticky_key is not None and not self.options.concurrent

    def row(self, job_id: int | None, text: str | None) -> dict[str, Any]:
        """Return the columns of push_sql.PUSHED."""
        o = self.options
        d = dialect()
        return {
            "id": job_id,
            "queue_id": self.queue_id,
            "mount": self.mount,
            "script": self.script,
            "data": text,
            "rank": rank_of(o.priority, o.sticky_key is not None, in_line=self.is_serial()),
            "due_at": d.moment(o.delay_until),
            "pushed_by": current_actor().name,
            "max_failures": o.max_failures,
            "repeat_times": o.repeat_times,
            "repeat_until": d.moment(o.repeat_until),
            "repeat_delay_ms": o.repeat_delay,
            "back_off": json.dumps(o.back_off),
            "timeout_ms": o.timeout,
            "success": _json(o.success),
            "failure": _json(o.failure),
            "unique_key": o.unique_key,
            "sticky_key": o.sticky_key,
            "concurrent": o.concurrent,
            "parent": None,
            "parent_run": None,
            "suspect": False,
            "expires_at": d.moment(o.expires_at),
            "flow_key": None,
            "flow_id": None,
            "limits": _json(o.limits),
        }


def checked_push(queue: str, script: Any, given: Mapping[str, Any], define: Define) -> PushRequest:
    if not script:
        raise BadPush("Must pass a job type!")
    if not isinstance(script, Mapping) or not {"mount", "name"} <= set(script):
        raise BadPush("a script is named by its mount and name")
    mount, name = script["mount"], script["name"]
    if reason := script_error(mount, name):
        raise BadPush(reason)
    own_schema = _checked_schema(script)
    known = checked(_found(mount, name)) if is_module(mount) else None
    defined = define(queue, mount, name)
    if known is not None:
        defined = _of_function(known, queue, defined)
    own = {k: v for k, v in script.items() if k not in {"mount", "name", "schema", "preprocess"}}
    options = _options(given, own, defined.defaults)
    return PushRequest(
        defined.queue_id,
        queue,
        defined.revision,
        mount,
        name,
        own_schema or defined.schema,
        script.get("preprocess"),
        options,
        known,
        defined.has_flow,
    )


def _of_function(known: Declared, queue: str, defined: Definition) -> Definition:
    """Let the declaration say what it takes, and show it where it is not shown yet."""
    if defined.schema is None and store_module(known.module):
        defined = fresh(queue, known.module, known.name)
    return replace(defined, schema=known.schema, defaults=known.options)


def _options(*layers: Mapping[str, Any]) -> Options:
    delayed = any("delay" in layer for layer in layers)
    layers = tuple(_with_references(layer) for layer in layers)
    try:
        options = resolve(database_now() if delayed else EPOCH, *layers)
    except BadOption as error:
        raise BadPush(str(error)) from error
    for reference in (options.success, options.failure, options.back_off):
        _check_reference(reference)
    if options.sticky_key is not None and (reason := refusal(options.sticky_key)):
        raise BadPush(f"sticky_key cannot be allocated: {reason}")
    return _with_limits(options)


def _with_limits(options: Options) -> Options:
    """Check limits of the push itself, and what they need."""
    if options.flow_key is None and options.limits is None:
        return options
    try:
        limits = parsed(options.limits)
    except BadLimit as error:
        raise BadPush(str(error)) from error
    if options.flow_key is None and any(limit.per == "key" for limit in limits):
        raise BadPush("a limit per key needs a flow_key, which says which key the job counts for")
    return replace(options, limits=stored(limits))


def _with_references(layer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Name declared functions as scripts are named: by module and name."""
    if not CODE & layer.keys():
        return layer
    return {name: _reference(value) if name in CODE else value for name, value in layer.items()}


def code_reference(name: str, value: Any) -> dict[str, str]:
    """Read a script or a declared function that is called later, as it is stored."""
    try:
        found = read_reference(name, _reference(value))
    except BadOption as error:
        raise BadPush(str(error)) from error
    if "mount" not in found:
        raise BadPush(f"{name} must be a declared function, or a script by its mount and name")
    try:
        _check_reference(found)
    except BadPush as error:
        raise BadPush(f"{name}: {error}", **error.facts) from error
    return found


def _reference(value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) == {"function"}:
        module, _, name = str(value["function"]).partition(":")
        return {"mount": module, "name": name}
    if callable(bare(value)):
        known = to_push(value)
        return {"mount": known.module, "name": known.name}
    return value


def _check_reference(reference: Any) -> None:
    """Refuse a function that nobody may call; a service may be installed later."""
    if not isinstance(reference, Mapping) or "mount" not in reference:
        return
    if is_module(reference["mount"]):
        checked(_found(reference["mount"], reference["name"]))


def _found(module: str, name: str) -> Declared:
    try:
        return find(module, name)
    except ScriptNotFound as error:
        raise BadPush(str(error), **error.facts) from error


def _checked_schema(script: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema that the script's dict carries, or raise when it is invalid."""
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


def json_text(value: Any) -> str:
    """Write strict JSON: no NaN, no NUL, nothing that the database would refuse later."""
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
