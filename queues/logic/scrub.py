"""Secrets in data and in texts: which values they are, and texts without them."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

MASK = "•••"
SHORTEST = 4  # a shorter one would mask half of every text


def secret_names(schema: Mapping[str, Any] | None) -> set[str]:
    """Properties that a schema marks with `x-secret`, however deep."""
    if not isinstance(schema, Mapping):
        return set()
    found: set[str] = set()
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(part, Mapping):
            found |= {name} if part.get("x-secret") else secret_names(part)
    items = schema.get("items")
    return found | secret_names(items) if isinstance(items, Mapping) else found


def masked_names(value: Any, names: set[str]) -> Any:
    """The same JSON value with the members of these names replaced."""
    if isinstance(value, dict):
        return {
            key: MASK if key in names and member is not None else masked_names(member, names)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [masked_names(item, names) for item in value]
    return value


def unmasked(given: Any, original: Any) -> Any:
    """What was shown masked and came back so is what it was."""
    if given == MASK:
        return original
    if isinstance(given, dict) and isinstance(original, dict):
        return {key: unmasked(value, original.get(key, value)) for key, value in given.items()}
    if isinstance(given, list) and isinstance(original, list) and len(given) == len(original):
        return [unmasked(one, other) for one, other in zip(given, original, strict=True)]
    return given


def unfilled(value: Any) -> Any:
    """The same JSON value without what is masked in it: a form is not filled with masks."""
    if isinstance(value, dict):
        return {key: unfilled(member) for key, member in value.items() if member != MASK}
    if isinstance(value, list):
        return [None if item == MASK else unfilled(item) for item in value]
    return value


def differing_texts(plain: Any, masked: Any) -> set[str]:
    """The texts that stand in one value and are masked in the other."""
    if isinstance(plain, dict) and isinstance(masked, dict):
        pairs = [(plain[key], masked.get(key)) for key in plain]
    elif isinstance(plain, list) and isinstance(masked, list):
        pairs = list(zip(plain, masked, strict=False))
    else:
        return texts(plain) if plain != masked else set()
    found: set[str] = set()
    for one, other in pairs:
        found |= differing_texts(one, other)
    return found


def texts(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set().union(*(texts(member) for member in value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*(texts(item) for item in value)) if value else set()
    if isinstance(value, bool) or value is None:
        return set()
    return {str(value)} if len(str(value)) >= SHORTEST else set()


def scrubbed(text: str, secrets: set[str], limit: int) -> str:
    """A text that every database stores and that shows no secret."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    text = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def without(value: Any, secrets: set[str]) -> Any:
    """The same JSON value with these texts masked wherever they stand."""
    if not secrets:
        return value
    if isinstance(value, dict):
        return {key: without(member, secrets) for key, member in value.items()}
    if isinstance(value, list):
        return [without(item, secrets) for item in value]
    return scrubbed(value, secrets, len(value) + 1) if isinstance(value, str) else value


def fingerprint(error: str) -> str:
    """The same for errors that differ in numbers and quoted values only."""
    shape = re.sub(r"0x[0-9a-f]+|\d+|'[^']*'|\"[^\"]*\"", "#", error.split("\n", 1)[0])
    return hashlib.sha256(shape.encode()).hexdigest()[:16]
