"""Secrets in data and in texts: which values they are, and texts without them."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MASK = "•••"
SHORTEST = 4  # a shorter one would mask half of every text
MOST_COMPARED = 10**9  # characters times secrets: a second at worst


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
    found: set[str] = set()
    pairs = [(plain, masked)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            pairs += [(one[key], other.get(key)) for key in one]
        elif isinstance(one, list) and isinstance(other, list):
            pairs += zip(one, other, strict=False)
        elif one != other:
            found.update(text for text in _scalars(one) if len(text) >= SHORTEST)
    return found


def scrubbed(text: str, secrets: set[str], limit: int) -> str:
    """A text that every database stores and that shows no secret."""
    if not _is_affordable([text], secrets):
        return MASK
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    text = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def without(value: Any, secrets: set[str]) -> Any:
    """The same JSON value with these texts masked wherever they stand.

    Where there are too many to look for each in all of it, every text is masked.
    """
    if not secrets:
        return value
    if not _is_affordable(_scalars(value), secrets):
        return _masked_texts(value)
    return _without(value, sorted(secrets, key=len, reverse=True))


def _without(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(member, secrets) for key, member in value.items()}
    if isinstance(value, list):
        return [_without(item, secrets) for item in value]
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
    return value


def _masked_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _masked_texts(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_masked_texts(item) for item in value]
    return MASK if isinstance(value, str) else value


def _is_affordable(texts: Iterable[str], secrets: set[str]) -> bool:
    """Each secret is looked for in each text; the calls count more than short texts do."""
    return not secrets or len(secrets) * sum(len(text) + 100 for text in texts) <= MOST_COMPARED


def _scalars(value: Any) -> Iterator[str]:
    """Texts and numbers in any depth, as texts."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif each is not None and not isinstance(each, bool):
            yield str(each)


def fingerprint(error: str) -> str:
    """The same for errors that differ in numbers and quoted values only."""
    shape = re.sub(r"0x[0-9a-f]+|\d+|'[^']*'|\"[^\"]*\"", "#", error.split("\n", 1)[0])
    return hashlib.sha256(shape.encode()).hexdigest()[:16]
