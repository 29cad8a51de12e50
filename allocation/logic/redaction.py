"""Values and texts without their secrets, and what comes back as it was."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from allocation.logic.secrets import MASK, masked, passwords_in, without_passwords

SHORTEST = 4  # a shorter one would mask half of every text
MOST_COMPARED = 10**9  # characters times secrets: a second at worst


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
    found: set[str] = set()
    pairs = [(plain, shown)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            pairs += [(one[key], other.get(key)) for key in one]
        elif isinstance(one, list) and isinstance(other, list):
            pairs += zip(one, other, strict=False)
        elif isinstance(other, str) and other != MASK:  # but for the password of an address
            found.update(text for text in passwords_in(str(one)) if len(text) >= SHORTEST)
        elif one != other:
            found.update(text for text in _scalars(one) if len(text) >= SHORTEST)
    return found


def scrubbed(text: str, secrets: set[str], limit: int) -> str:
    """A text that every database stores and that shows no secret."""
    if not _is_affordable([text], secrets):
        return MASK
    text = _cleared(text, _longest_first(secrets))
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
    return _without(value, _longest_first(secrets))


def _without(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(member, secrets) for key, member in value.items()}
    if isinstance(value, list):
        return [_without(item, secrets) for item in value]
    return _cleared(value, secrets) if isinstance(value, str) else value


def _masked_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _masked_texts(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_masked_texts(item) for item in value]
    return MASK if isinstance(value, str) else value


def _cleared(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    return without_passwords(text)


def _longest_first(secrets: set[str]) -> list[str]:
    return sorted(secrets, key=len, reverse=True)


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
