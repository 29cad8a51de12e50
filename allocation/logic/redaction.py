"""Values and texts without their secrets, and what comes back as it was."""

from collections.abc import Collection
from typing import Any

from allocation.logic.secrets import MASK, masked, passwords_in, without_passwords

SHORTEST = 4  # a shorter one would mask half of every text


def hidden(value: Any, names: Collection[str] = ()) -> Any:
    """The same JSON value without secrets, also where one stands among other text."""
    return without(_masked(value, names), secrets_in(value, names))


def secrets_in(value: Any, names: Collection[str] = ()) -> set[str]:
    """The texts that must not be shown: they may stand elsewhere, too."""
    return differing_texts(value, _masked(value, names))


def _masked(value: Any, names: Collection[str]) -> Any:
    return masked(masked_names(value, names))


def masked_names(value: Any, names: Collection[str]) -> Any:
    """The same JSON value with the members of these names replaced."""
    if isinstance(value, dict):
        return {
            key: MASK if key in names and member is not None else masked_names(member, names)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [masked_names(item, names) for item in value]
    return value


def unmasked(given: Any, original: Any, shown: Any) -> Any:
    """What was shown masked and came back so is what it was."""
    if given == MASK or (isinstance(given, str) and MASK in given and given == shown):
        return original
    if isinstance(given, dict) and isinstance(original, dict):
        members = shown if isinstance(shown, dict) else {}
        return {
            key: unmasked(value, original.get(key, value), members.get(key))
            for key, value in given.items()
        }
    if isinstance(given, list) and isinstance(original, list) and len(given) == len(original):
        items = shown if isinstance(shown, list) else [None] * len(given)
        return [unmasked(*each) for each in zip(given, original, items, strict=True)]
    return given


def unfilled(value: Any) -> Any:
    """The same JSON value without what is masked in it: a form is not filled with masks."""
    if isinstance(value, dict):
        return {key: unfilled(member) for key, member in value.items() if member != MASK}
    if isinstance(value, list):
        return [None if item == MASK else unfilled(item) for item in value]
    return value


def differing_texts(plain: Any, shown: Any) -> set[str]:
    """The texts that stand in one value and are masked in the other."""
    if isinstance(plain, dict) and isinstance(shown, dict):
        pairs = [(plain[key], shown.get(key)) for key in plain]
    elif isinstance(plain, list) and isinstance(shown, list):
        pairs = list(zip(plain, shown, strict=False))
    elif isinstance(shown, str) and shown != MASK:  # but for the password of an address
        return {text for text in passwords_in(str(plain)) if len(text) >= SHORTEST}
    else:
        return texts(plain) if plain != shown else set()
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
    text = _cleared(text, secrets).replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def without(value: Any, secrets: set[str]) -> Any:
    """The same JSON value with these texts masked wherever they stand."""
    if not secrets:
        return value
    if isinstance(value, dict):
        return {key: without(member, secrets) for key, member in value.items()}
    if isinstance(value, list):
        return [without(item, secrets) for item in value]
    return _cleared(value, secrets) if isinstance(value, str) else value


def _cleared(text: str, secrets: set[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return without_passwords(text)
