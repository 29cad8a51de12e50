"""Hide secrets in values and texts, and put back what comes in masked.

Secrets are values whose key looks like one, and passwords in addresses.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

MASK = "•••"
# xApiKey, X-API-Key, x_api_key and APIKey2 are the words api and key, some with an x.
BETWEEN_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


WORDS = _set(
    "password passwords passwd pwd pw passphrase passcode secret secrets token tokens credential"
    " credentials creds authorization authorisation bearer cookie cookies dsn jwt otp"
)
LAST_WORDS = _set("pass auth")  # db_pass, but not pass_rate
KEYS_TO = _set(
    "access account api app application auth client consumer deploy encryption hmac master private"
    " secret session shared signing ssh ssl storage subscription tls webhook"
)
PAIRS = frozenset(
    [(kind, key) for kind in KEYS_TO for key in ("key", "keys")]
    + [("connection", "string"), ("conn", "string"), ("session", "id")]
)
# Written as one word or in any case: DBPASSWORD, csrftoken, ToKeN.
INSIDE = ("password", "passwd", "passphrase")
ENDINGS = (*(WORDS - _set("pw dsn otp")), *(kind + key for kind, key in PAIRS))
# Facts about a secret that do not reveal it: token_count, password_changed_at, max_tokens.
SAID_AFTER = _set(
    "age at count counts days enabled expired expires expiry file hours in length limit limits"
    " minutes name names path policy required rules seconds size strength ttl type usage used"
)
SAID_BEFORE = _set("has is max min needs num requires total")
COUNTED = _set("cached completion input output prompt reasoning")  # of tokens
PASSWORD_IN_ADDRESS = re.compile(r"(?<=://)([^\s/?#:@]*):([^\s/?#]+)(?=@)")


@lru_cache(maxsize=4096)
def looks_secret(key: str) -> bool:
    words = [word.lower() for word in BETWEEN_WORDS.split(key) if word]
    if not words or _says_about(words):
        return False
    whole = "".join(words)
    return (
        not WORDS.isdisjoint(words)
        or words[-1] in LAST_WORDS
        or not PAIRS.isdisjoint(pairwise(words))
        or whole.endswith(ENDINGS)
        or any(part in whole for part in INSIDE)
    )


def masked(value: Any) -> Any:
    """Return the same JSON value with every secret replaced, however deep."""
    if isinstance(value, dict):
        return {key: _member(str(key), member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item) for item in value]
    return without_passwords(value) if isinstance(value, str) else value


def without_passwords(text: str) -> str:
    """Return `postgresql://site:•••@host/db`: the user and the host may be shown."""
    return PASSWORD_IN_ADDRESS.sub(rf"\1:{MASK}", text) if "://" in text else text


def passwords_in(text: str) -> set[str]:
    """Return the passwords of addresses, both as they are written and decoded."""
    passwords = {password for _, password in PASSWORD_IN_ADDRESS.findall(text)} - {MASK}
    return passwords | {unquote(password) for password in passwords}


def _says_about(words: list[str]) -> bool:
    counts_tokens = words[-1] == "tokens" and words[0] in COUNTED
    return words[-1] in SAID_AFTER or words[0] in SAID_BEFORE or counts_tokens


def _member(key: str, value: Any) -> Any:
    return MASK if looks_secret(key) and value is not None else masked(value)


SHORTEST = 4  # masking a shorter one would mask half of every text
MOST_COMPARED = 10**9  # characters times secrets; this takes a second at worst


def hidden(value: Any, names: Collection[str] = ()) -> Any:
    """Return the same JSON value without secrets, even inside other text."""
    return without(_masked(value, names), secrets_in(value, names))


def secrets_in(value: Any, names: Collection[str] = ()) -> set[str]:
    """Return the texts that must not be shown; they may stand elsewhere, too."""
    return differing_texts(value, _masked(value, names))


def _masked(value: Any, names: Collection[str]) -> Any:
    return masked(masked_names(value, names))


def masked_names(value: Any, names: Collection[str]) -> Any:
    """Return the same JSON value with the members of these names replaced."""
    if isinstance(value, dict):
        return {
            key: MASK if key in names and member is not None else masked_names(member, names)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [masked_names(item, names) for item in value]
    return value


def unmasked(given: Any, original: Any, shown: Any) -> Any:
    """Put the original back where a value was shown masked and came back masked."""
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
    """Return the same JSON value without its masks, since no form is filled with masks."""
    if isinstance(value, dict):
        return {key: unfilled(member) for key, member in value.items() if member != MASK}
    if isinstance(value, list):
        return [None if item == MASK else unfilled(item) for item in value]
    return value


def differing_texts(plain: Any, shown: Any) -> set[str]:
    """Return the texts that stand in one value and are masked in the other."""
    texts: set[str] = set()
    pairs = [(plain, shown)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            pairs += [(one[key], other.get(key)) for key in one]
        elif isinstance(one, list) and isinstance(other, list):
            pairs += zip(one, other, strict=False)
        elif isinstance(other, str) and other != MASK:  # except for the password of an address
            texts.update(text for text in passwords_in(str(one)) if len(text) >= SHORTEST)
        elif one != other:
            texts.update(text for text in _scalars(one) if len(text) >= SHORTEST)
    return texts


def scrubbed(text: str, secrets: set[str], limit: int) -> str:
    """Return a text that every database can store and that shows no secret."""
    if not _is_affordable([text], secrets):
        return MASK
    text = _cleared(text, _longest_first(secrets))
    text = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def without(value: Any, secrets: set[str]) -> Any:
    """Return the same JSON value with these texts masked wherever they stand.

    If there are too many to look for each of them everywhere, every text is masked.
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
    """Limit the work: each secret is looked for in each text, and each call has its cost."""
    return not secrets or len(secrets) * sum(len(text) + 100 for text in texts) <= MOST_COMPARED


def _scalars(value: Any) -> Iterator[str]:
    """Return texts and numbers at any depth, as texts."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        elif each is not None and not isinstance(each, bool):
            yield str(each)
