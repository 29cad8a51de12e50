"""Push options: what callers may write, and what is stored. Numbers are milliseconds."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from queues.logic.backoff import DEFAULT_MS, STRATEGIES
from queues.logic.lifecycle import FOREVER
from queues.logic.mounts import is_module, mount_error
from queues.logic.storable import is_storable

CENTURY_MS = 100 * 365 * 24 * 60 * 60 * 1000
PRIORITIES = range(-2, 3)
MOST_TIMES = 2**31 - 1
LONGEST_KEY = 255
MOST_AFTER = 1000
LONGEST_SCRIPT = 128
FIRST_MOMENT = datetime.fromtimestamp(0, tz=UTC)
LAST_MOMENT = datetime.max.replace(tzinfo=UTC)
PUSH_ONLY = frozenset({"delay_until", "delay", "success", "failure", "priority"}) | {
    "unique_key",
    "sticky_key",
    "concurrent",
    "expires_at",
    "debounce",
    "flow_key",
    "limits",
    "batch",
    "after",
    "even_if_failed",
}


class BadOption(ValueError):
    """An option that cannot mean anything; the text names it."""


@dataclass(frozen=True, slots=True)
class Options:
    back_off: Any = DEFAULT_MS
    max_failures: int = 0
    repeat_times: int = 0
    repeat_until: datetime | None = None
    repeat_delay: int = 0
    timeout: int | None = None
    delay_until: datetime | None = None
    success: Any = None
    failure: Any = None
    priority: int = 0
    unique_key: str | None = None
    sticky_key: str | None = None
    concurrent: bool = False
    expires_at: datetime | None = None
    debounce: bool = False
    flow_key: str | None = None
    limits: Any = None  # as they are stored: see queues.logic.flow.limits
    batch: int | None = None
    after: tuple[int, ...] = ()
    even_if_failed: bool = False  # start even if a job that it waits for fails

    def is_linked(self) -> bool:
        """Return whether it belongs to a batch or waits for other jobs."""
        return self.batch is not None or bool(self.after)


def resolve(now: datetime, *layers: Mapping[str, Any]) -> Options:
    """Take each option from the first layer that gives it, an explicit 0 included."""
    given: dict[str, Any] = {}
    for layer in reversed(layers):
        given.update(_given(now, layer))
    options = Options(**{name: _parsed(name, value) for name, value in given.items()})
    _check_together(options)
    return options


def _check_together(options: Options) -> None:
    """Refuse options that contradict each other."""
    if options.debounce and options.unique_key is None:
        raise BadOption("debounce needs a unique_key, which says which waiting job it replaces")
    if options.is_linked():
        _check_links(options)
    elif options.even_if_failed:
        raise BadOption("even_if_failed needs after, which says which jobs are waited for")
    start, end = options.delay_until, options.expires_at
    if start is not None and end is not None and end <= start:
        raise BadOption("expires_at must be later than the moment at which the job may start")


def _check_links(options: Options) -> None:
    if options.debounce:
        raise BadOption("debounce cannot be combined with batch or after")
    endless = options.repeat_times == FOREVER and options.repeat_until is None
    if options.batch is not None and endless:
        raise BadOption(
            "a job that repeats without an end cannot belong to a batch, which would never end"
        )


def _given(now: datetime, layer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a layer gives, a delay as the moment that it means."""
    given = {name: value for name, value in layer.items() if value is not None}
    if "delay" not in given:
        return given
    if "delay_until" in given:
        raise BadOption("give either delay or delay_until, not both")
    delay = timedelta(milliseconds=duration("delay", given.pop("delay")))
    return {**given, "delay_until": now + delay}


def _parsed(name: str, value: Any) -> Any:
    if name not in PARSERS:
        raise BadOption(f"unknown option: {name}")
    return PARSERS[name](name, value)


def times(name: str, value: Any) -> int:
    """Read a count; any negative number or infinity means for ever."""
    number = _number(name, value)
    if number < 0 or math.isinf(number):
        return FOREVER
    if number != int(number) or number > MOST_TIMES:
        raise BadOption(f"{name} must be a whole number up to {MOST_TIMES}, not {value}")
    return int(number)


def duration(name: str, value: Any) -> int:
    if isinstance(value, timedelta):
        value = value / timedelta(milliseconds=1)
    number = _number(name, value)
    if not 0 <= number <= CENTURY_MS:
        raise BadOption(f"{name} must be between 0 and {CENTURY_MS} ms, not {value}")
    return round(number)


def timeout(name: str, value: Any) -> int:
    milliseconds = duration(name, value)
    if milliseconds == 0:
        raise BadOption(f"{name} must be at least 1 ms")
    return milliseconds


def moment(name: str, value: Any) -> datetime:
    if isinstance(value, datetime):
        given = value if value.tzinfo else value.replace(tzinfo=UTC)
        if not FIRST_MOMENT <= given <= LAST_MOMENT:
            raise BadOption(f"{name} must be a moment from 1970 to 9999, not {value}")
        return given
    number = _number(name, value)
    if not 0 <= number <= 4 * CENTURY_MS:
        raise BadOption(f"{name} must be a moment in ms since 1970, not {value}")
    return datetime.fromtimestamp(number / 1000, tz=UTC)


def limit(name: str, value: Any) -> datetime | None:
    """Read a last moment; zero, negative and infinite mean none."""
    if isinstance(value, datetime):
        return moment(name, value)
    number = _number(name, value)
    return None if number <= 0 or math.isinf(number) else moment(name, number)


def back_off(name: str, value: Any) -> Any:
    """Read a number of milliseconds, a named strategy with its unit, or a reference to code."""
    if isinstance(value, Mapping) and "strategy" in value:
        if value["strategy"] not in STRATEGIES:
            raise BadOption(f"{name} strategy must be one of {', '.join(STRATEGIES)}")
        _nothing_else(name, value, "strategy", "ms")
        return {
            "strategy": value["strategy"],
            "ms": duration(name, value.get("ms", DEFAULT_MS)),
        }
    if isinstance(value, Mapping) or callable(value):
        return reference(name, value)
    return duration(name, value)


def reference(name: str, value: Any) -> dict[str, str]:
    """Read a script of a service, or a module-level function by its import path."""
    if callable(value):
        return {"function": key(name, import_path(name, value))}
    if isinstance(value, Mapping) and set(value) == {"function"}:
        return {"function": key(name, value["function"])}
    if not isinstance(value, Mapping) or not {"mount", "name"} <= set(value):
        raise BadOption(f"{name} must name a script: {{'mount': …, 'name': …}}")
    _nothing_else(name, value, "mount", "name")
    if reason := script_error(value["mount"], value["name"]):
        raise BadOption(f"{name}: {reason}")
    return {"mount": value["mount"], "name": value["name"]}


def _nothing_else(name: str, value: Mapping[str, Any], *members: str) -> None:
    unknown = sorted(str(member) for member in set(value) - set(members))
    if unknown:
        raise BadOption(f"{name} has {' and '.join(members)}, not {', '.join(unknown)}")


def script_error(mount: Any, name: Any) -> str | None:
    """Return why a script cannot have this mount or name, or None."""
    if not isinstance(mount, str) or not isinstance(name, str):
        return "a script's mount and name are texts"
    if not 0 < len(name) <= LONGEST_SCRIPT or not is_storable(name):
        return f"a script's name has 1 to {LONGEST_SCRIPT} characters"
    return None if is_module(mount) else mount_error(mount)


def import_path(name: str, function: Callable[..., Any]) -> str:
    module, qualname = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if not module or module == "__main__" or not qualname.isidentifier():
        raise BadOption(
            f"{name} must be a function at the top level of a module, not "
            f"{qualname or function!r}: it is stored by its import path"
        )
    return f"{module}:{qualname}"


def priority(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in PRIORITIES:
        raise BadOption(f"{name} must be a whole number from -2 to 2, not {value!r}")
    return value


def key(name: str, value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_KEY or not is_storable(value):
        raise BadOption(f"{name} must be a text of 1 to {LONGEST_KEY} characters")
    return value


def job_number(name: str, value: Any) -> int:
    """Read an id: a text of digits, the number, or what has it as its `id`."""
    given = getattr(value, "id", value)
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) <= 19:
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 < given < 2**63:
        raise BadOption(f"{name} must be an id such as '26111603463755600', not {value!r}")
    return given


def job_numbers(name: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple | set):
        raise BadOption(f"{name} must be a list of ids of jobs, not {value!r}")
    if len(value) > MOST_AFTER:
        raise BadOption(f"{name} has at most {MOST_AFTER} ids; put more jobs into a batch")
    return tuple(sorted({job_number(name, each) for each in value}))


def yes_or_no(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadOption(f"{name} must be true or false, not {value!r}")
    return value


def _number(name: str, value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise BadOption(f"{name} must be a number, not {value!r}")
    return value


PARSERS: dict[str, Callable[[str, Any], Any]] = {
    "back_off": back_off,
    "max_failures": times,
    "repeat_times": times,
    "repeat_until": limit,
    "repeat_delay": duration,
    "timeout": timeout,
    "delay_until": moment,
    "success": reference,
    "failure": reference,
    "priority": priority,
    "unique_key": key,
    "sticky_key": key,
    "concurrent": yes_or_no,
    "expires_at": moment,
    "debounce": yes_or_no,
    "flow_key": key,
    "limits": lambda name, value: value,
    "batch": job_number,
    "after": job_numbers,
    "even_if_failed": yes_or_no,
}
