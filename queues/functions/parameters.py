"""The arguments of a function by their names: what a job stores, and how that is called again.

A job stores one object. It has the arguments that were given by the names of the parameters, those
of `*rest` as a list below `rest`, and those of `**others` beside them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from typing import Any

BY_PLACE = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Taken:
    """One parameter."""

    name: str
    kind: Any
    default: Any = Parameter.empty

    @property
    def is_required(self) -> bool:
        many = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        return self.default is Parameter.empty and self.kind not in many

    @property
    def is_keyword_only(self) -> bool:
        return self.kind is Parameter.KEYWORD_ONLY


def parameters_of(function: Callable[..., Any], *, takes_context: bool) -> list[Taken]:
    """Return what a caller gives; TypeError where the context has no place."""
    each = list(_signature(function, takes_context=takes_context).parameters.values())
    return [Taken(one.name, one.kind, one.default) for one in each]


def named(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    takes_context: bool,
) -> dict[str, Any]:
    """Return the arguments by name; TypeError says which are missing or too many."""
    taken = _signature(function, takes_context=takes_context)
    rest = _of_kind(taken, Parameter.VAR_POSITIONAL)
    if rest is not None and rest in keywords:
        raise TypeError(f"{rest!r} takes arguments by their place, not by its name")
    bound = dict(taken.bind(*arguments, **keywords).arguments)
    others = _of_kind(taken, Parameter.VAR_KEYWORD)
    more = bound.pop(others, {}) if others is not None else {}
    if rest in bound:
        bound[rest] = list(bound[rest])
    return {**bound, **more}


def from_object(
    function: Callable[..., Any], data: Mapping[str, Any], *, takes_context: bool
) -> dict[str, Any]:
    """Check an object of arguments by name; TypeError as for a call."""
    arguments, keywords = split(function, data, takes_context=takes_context)
    return named(function, arguments, keywords, takes_context=takes_context)


def split(
    function: Callable[..., Any], data: Mapping[str, Any], *, takes_context: bool
) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments by place and by name; by place as far as nothing is left out."""
    taken = _signature(function, takes_context=takes_context)
    left, arguments = dict(data), []
    for each in taken.parameters.values():
        if each.kind not in BY_PLACE or each.name not in left:
            break
        arguments.append(left.pop(each.name))
    rest = _of_kind(taken, Parameter.VAR_POSITIONAL)
    if rest in left:
        if not isinstance(left[rest], list):
            raise TypeError(f"{rest!r} must be a list")
        arguments += left.pop(rest)
    return arguments, left


def _signature(function: Callable[..., Any], *, takes_context: bool) -> Signature:
    whole = signature(function)
    if not takes_context:
        return whole
    taken = list(whole.parameters.values())
    if not taken or taken[0].kind not in BY_PLACE:
        raise TypeError("it takes the context, so its first parameter must be a place for it")
    return whole.replace(parameters=taken[1:])


def _of_kind(taken: Signature, kind: Any) -> str | None:
    return next((each.name for each in taken.parameters.values() if each.kind is kind), None)
