"""What a caller of `push` means: a script with its data, or a declared function with arguments."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from queues.errors import BadPush
from queues.functions.arguments import of_call, of_data
from queues.functions.declaration import Declared
from queues.functions.modules import to_push
from queues.logic.options import PARSERS

OPTIONS = frozenset({*PARSERS, "delay"})


class Call(NamedTuple):
    script: Any
    data: Any
    options: dict[str, Any]


def called(script: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Call:
    """Take keywords with the names of options for options, the others for arguments."""
    if _is_named(script):
        return Call(script, *_data(arguments, dict(keywords)))
    known = to_push(script)
    options = {name: value for name, value in keywords.items() if name in OPTIONS}
    others = {name: value for name, value in keywords.items() if name not in OPTIONS}
    return Call(_name_of(known), of_call(known, arguments, others), options)


def called_often(script: Any, datas: Sequence[Any], options: dict[str, Any]) -> Call:
    """Do the same for many: each of `datas` is a call's arguments, as a list or by name."""
    if _is_named(script):
        return Call(script, datas, options)
    known = to_push(script)
    return Call(_name_of(known), [_numbered(known, datas, i) for i in range(len(datas))], options)


def _numbered(known: Declared, datas: Sequence[Any], number: int) -> Any:
    try:
        return of_data(known, datas[number])
    except BadPush as error:
        raise BadPush(f"number {number + 1} of {len(datas)}: {error}") from error


def _is_named(script: Any) -> bool:
    """Leave what is neither a name nor code to the push, which says what is wrong with it."""
    return isinstance(script, Mapping | str) or not script


def _name_of(known: Declared) -> dict[str, str]:
    return {"mount": known.module, "name": known.name}


def _data(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    given = [*arguments, *([keywords.pop("data")] if "data" in keywords else [])]
    if len(given) > 1:
        raise BadPush("a script has one data; give several arguments as a list")
    return (given[0] if given else None), keywords
