"""What must never be shown: values whose key looks like a secret, and passwords in addresses."""

import re
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
# Written as one word, or in letters of any size: DBPASSWORD, csrftoken, ToKeN.
INSIDE = ("password", "passwd", "passphrase")
ENDINGS = (*(WORDS - _set("pw dsn otp")), *(kind + key for kind, key in PAIRS))
# What is said about a secret and does not tell it: token_count, password_changed_at, max_tokens.
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
    """The same JSON value with every secret replaced, however deep."""
    if isinstance(value, dict):
        return {key: _member(str(key), member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item) for item in value]
    return without_passwords(value) if isinstance(value, str) else value


def without_passwords(text: str) -> str:
    """`postgresql://site:•••@host/db`: who and where may be shown."""
    return PASSWORD_IN_ADDRESS.sub(rf"\1:{MASK}", text) if "://" in text else text


def passwords_in(text: str) -> set[str]:
    """Those of addresses, as they are written there and as they are meant."""
    found = {password for _, password in PASSWORD_IN_ADDRESS.findall(text)} - {MASK}
    return found | {unquote(password) for password in found}


def _says_about(words: list[str]) -> bool:
    counts_tokens = words[-1] == "tokens" and words[0] in COUNTED
    return words[-1] in SAID_AFTER or words[0] in SAID_BEFORE or counts_tokens


def _member(key: str, value: Any) -> Any:
    return MASK if looks_secret(key) and value is not None else masked(value)
