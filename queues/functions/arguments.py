"""Arguments of a declared function as JSON: from a call, from the data of a door, for a run."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from queues.errors import BadPush
from queues.functions.declaration import Declared
from queues.functions.parameters import from_object, named, split


def of_call(known: Declared, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return the arguments of a call by their names; BadPush where they do not fit."""
    return _checked(
        known,
        lambda: named(known.function, arguments, keywords, takes_context=known.takes_context),
    )


def of_data(known: Declared, data: Any) -> Any:
    """Return the same of data: an object is by name, a list by place, another value the first."""
    if data is None:
        data = []
    if isinstance(data, Mapping):
        takes_context = known.takes_context
        return _checked(
            known, lambda: from_object(known.function, data, takes_context=takes_context)
        )
    return of_call(known, data if isinstance(data, list | tuple) else [data], {})


def split_of(known: Declared, data: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return what a job has stored as arguments by place and by name."""
    if isinstance(data, Mapping):
        return split(known.function, data, takes_context=known.takes_context)
    return list(data) if isinstance(data, list | tuple) else [data][: data is not None], {}


def called(known: Declared, context: Any, argv: list[Any]) -> Any:
    """Call it; the one object that a push stores is by name, everything else by place."""
    data = argv[0] if len(argv) == 1 and isinstance(argv[0], Mapping) else argv
    arguments, keywords = split_of(known, data)
    return known.function(*([context] if known.takes_context else []), *arguments, **keywords)


def _checked(known: Declared, bound: Callable[[], dict[str, Any]]) -> Any:
    try:
        data = bound()
    except TypeError as error:
        raise BadPush(f"{known.path}: {error}") from error
    try:
        text = json.dumps(data, allow_nan=False)  # refuses what contains itself, too
    except (TypeError, ValueError, RecursionError) as error:
        raise BadPush(f"{known.path}: arguments must be JSON: {error}") from error
    if odd := _odd_name(data):
        raise BadPush(
            f"{known.path}: arguments must be JSON: {odd!r} is not text, but names a member"
        )
    return json.loads(text)


def _odd_name(value: Any) -> Any:
    """Return a name of a member that JSON would turn into a text."""
    layer = [value]
    while layer:
        each = layer.pop()
        if isinstance(each, dict):
            for name in each:
                if not isinstance(name, str):
                    return name
            layer.extend(each.values())
        elif isinstance(each, list | tuple):
            layer.extend(each)
    return None
