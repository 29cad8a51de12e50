"""Keywords of JSON Schema in linear time: a pusher chooses the data that they are tried on.

The library's engine for patterns may take for ever, and it looks for unique or unevaluated items by
comparing each with each. `words` says what its errors mean, except which members were refused.
"""

from collections.abc import Iterator
from typing import Any

from attrs import fields
from jsonschema import Draft202012Validator, ValidationError
from jsonschema._utils import (
    find_evaluated_item_indexes_by_schema,
    find_evaluated_property_keys_by_schema,
)
from jsonschema.validators import extend

from queues.logic.regex.engine import compiled
from queues.schema.words import refused_members

Errors = Iterator[ValidationError]


def _pattern(validator: Any, text: str, instance: Any, schema: Any) -> Errors:
    if validator.is_type(instance, "string") and not compiled(text).found_in(instance):
        yield ValidationError("pattern")


def _pattern_properties(validator: Any, parts: Any, instance: Any, schema: Any) -> Errors:
    if not validator.is_type(instance, "object"):
        return
    for text, part in parts.items():
        for name, member in instance.items():
            if compiled(text).found_in(name):
                yield from validator.descend(member, part, path=name, schema_path=text)


def _additional_properties(validator: Any, part: Any, instance: Any, schema: Any) -> Errors:
    if not validator.is_type(instance, "object"):
        return
    patterns = [compiled(text) for text in schema.get("patternProperties", {})]
    known = schema.get("properties", {})
    others = [
        name
        for name in instance
        if name not in known and not any(each.found_in(name) for each in patterns)
    ]
    if part is False:
        if others:
            yield ValidationError(refused_members(sorted(others)))
        return
    for name in others:
        yield from validator.descend(instance[name], part, path=name)


def _unevaluated_properties(validator: Any, part: Any, instance: Any, schema: Any) -> Errors:
    if validator.is_type(instance, "object"):
        known = set(find_evaluated_property_keys_by_schema(validator, instance, schema))
        others = [name for name in instance if name not in known]
        if others:
            yield ValidationError(refused_members(sorted(others)))


def _unevaluated_items(validator: Any, part: Any, instance: Any, schema: Any) -> Errors:
    if validator.is_type(instance, "array"):
        known = set(find_evaluated_item_indexes_by_schema(validator, instance, schema))
        others = len(instance) - len(known & set(range(len(instance))))
        if others:
            yield ValidationError(f"has {others} item{'' if others == 1 else 's'} too many")


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Errors:
    if not wanted or not validator.is_type(instance, "array"):
        return
    if len({_hashable(item) for item in instance}) < len(instance):
        yield ValidationError("uniqueItems")


def _hashable(value: Any) -> Any:
    """Return equal values for what JSON Schema takes for equal: 1 and 1.0, but not 1 and true."""
    if isinstance(value, dict):
        return frozenset((name, _hashable(member)) for name, member in value.items())
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return ("bool", value) if isinstance(value, bool) else value


def _stay(validator: Any, **changes: Any) -> Any:
    """Keep our keywords whatever `$schema` a part names: the library's class has its own."""
    for name, alias in FIELDS:
        if alias not in changes:
            changes[alias] = getattr(validator, name)
    return Validator(**changes)


Validator: Any = extend(
    Draft202012Validator,
    {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "unevaluatedProperties": _unevaluated_properties,
        "unevaluatedItems": _unevaluated_items,
        "uniqueItems": _unique_items,
    },
)
Validator.evolve = _stay
FIELDS = [(each.name, each.alias) for each in fields(Validator) if each.init]
