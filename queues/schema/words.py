"""Say in plain English why a schema refuses a value; the name of the field stands before it."""

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from atributo_site.core.redaction import looks_secret

if TYPE_CHECKING:
    from jsonschema import SchemaError, ValidationError

    Error = SchemaError | ValidationError

LONGEST = 60  # of a value that is named
MOST = 4  # alternatives or members that are named
OURS = {"additionalProperties", "unevaluatedProperties", "unevaluatedItems"}  # said by keywords
TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
FORMATS = {
    "date": "a date such as 2026-01-31",
    "email": "an email address",
    "ipv4": "an IPv4 address such as 10.0.0.1",
    "ipv6": "an IPv6 address such as 2001:db8::1",
    "uuid": "a UUID",
}
LIMITS = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
}
COUNTS = {
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "item"),
    "maxItems": ("at most", "item"),
    "minProperties": ("at least", "member"),
    "maxProperties": ("at most", "member"),
    "minContains": ("at least", "fitting item"),
    "maxContains": ("at most", "fitting item"),
}


def reason(error: "Error", secret: Collection[str] = ()) -> str:
    """Return what the value must be, and what it is unless its name is secret or it is long."""
    if "propertyNames" in list(error.relative_schema_path)[:-1]:
        return f"the name {_short(error.instance)} {_reason(error, secret)}"
    return _reason(error, secret)


def refused_members(names: list[str]) -> str:
    """Name members that are too many, and how many more there are."""
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    noun = "member" if len(names) == 1 else "members"
    return f"must not have the {noun} {', '.join(map(_short, names[:MOST]))}{more}"


def _reason(error: "Error", secret: Collection[str]) -> str:
    wanted: Any = error.validator_value
    match error.validator:
        case "type":
            return f"must be {_types(wanted)}{_given(error, secret)}"
        case "required":
            return f"{_first_missing(error)} is missing"
        case "enum":
            return f"must be one of {', '.join(map(_json, wanted))}"
        case "const":
            return f"must be {_json(wanted)}"
        case "format" if wanted in FORMATS:
            return f"must be {FORMATS[wanted]}{_given(error, secret)}"
        case "pattern":
            return f"must match the pattern {wanted}"
        case "uniqueItems":
            return "must not have the same item twice"
        case "anyOf" | "oneOf":
            return _of_alternatives(error, secret)
        case "not":
            return (
                f"must not be {_what(wanted)}" if _what(wanted) else "is what the schema rules out"
            )
        case "contains":
            return f"must have an item that is {_what(wanted) or 'as the schema says'}"
        case "dependentRequired":
            return _of_dependents(error)
        case "items":
            return f"must have at most {_count(_places(error), 'item')}"
        case name if name in COUNTS:
            bound, noun = COUNTS[name]
            return f"must have {bound} {_count(wanted, noun)}"
        case name if name in LIMITS:
            return LIMITS[name].format(_json(wanted))
        case None:  # False as a schema: the library does not say of what
            return "has a member or an item that is not allowed"
    return error.message if error.validator in OURS else "is not what the schema asks for"


def _of_alternatives(error: "Error", secret: Collection[str]) -> str:
    """Name what each alternative wants, of those that are about the value itself."""
    if not error.context:
        return "fits more than one of the alternatives, and only one may fit"
    reasons = [_reason(each, secret) for each in error.context if not each.relative_path]
    if len(reasons) < len(error.context) or len(reasons) > MOST:
        return "does not fit any of the alternatives"
    return " or ".join(dict.fromkeys(reasons))


def _of_dependents(error: "Error") -> str:
    wanted: Any = error.validator_value
    there: Any = error.instance
    for name, others in wanted.items():
        for missing in (each for each in others if name in there and each not in there):
            return f"{missing} is missing, which {name} needs"
    return "lacks a member"


def _what(schema: Any) -> str:
    """Say in a few words what a schema describes, or nothing if that takes more."""
    if isinstance(schema, dict) and len(schema) == 1:
        match next(iter(schema.items())):
            case "type", wanted:
                return _types(wanted)
            case "const", wanted:
                return _short(wanted)
            case "enum", wanted if len(wanted) <= MOST:
                return " or ".join(map(_short, wanted))
    return ""


def _places(error: "Error") -> int:
    return len(error.schema.get("prefixItems", [])) if isinstance(error.schema, dict) else 0


def _count(number: Any, noun: str) -> str:
    return f"{_json(number)} {noun}{'' if number == 1 else 's'}"


def _types(wanted: Any) -> str:
    names = [wanted] if isinstance(wanted, str) else wanted
    return " or ".join(TYPES.get(name, str(name)) for name in names)


def _first_missing(error: "Error") -> str:
    required: Any = error.validator_value
    there: Any = error.instance
    return next((name for name in required if name not in there), str(required))


def _given(error: "Error", secret: Collection[str]) -> str:
    """Name the value by its kind alone where it is secret, long or has parts."""
    value = error.instance
    if value is None:
        return ", but is empty"
    kind = next((TYPES[name] for name, fits in KINDS.items() if fits(value)), "this value")
    is_secret = _is_secret(error, secret)
    written = _json(value)
    has_parts = isinstance(value, dict | list)
    return f", not {kind if is_secret or has_parts or len(written) > LONGEST else written}"


def _is_secret(error: "Error", secret: Collection[str]) -> bool:
    if any(str(part) in secret or looks_secret(str(part)) for part in error.absolute_path):
        return True
    inner: Any = error
    while inner is not None:
        if isinstance(inner.schema, dict) and inner.schema.get("x-secret"):
            return True
        inner = inner.parent
    return False


KINDS = {
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float),
}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _short(value: Any) -> str:
    written = _json(value)
    return written if len(written) <= LONGEST else f"{written[:LONGEST]}…"
